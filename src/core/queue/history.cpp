#include "core/queue/history.h"

#include <algorithm>
#include <utility>

namespace redrive::queue {

ErrorKey History::add(const Attempt& attempt) {
  ++attempts_total;
  ErrorKey dropped = ErrorKey::none;
  if (attempts.size() == kAttemptsFirst + kAttemptsLast) {
    dropped = attempts[kAttemptsFirst].error;
    attempts.erase(attempts.begin() + kAttemptsFirst);
  }
  attempts.push_back(attempt);
  return dropped;
}

void History::add(const LineageEvent& event) {
  ++events_total;
  if (events.size() == kEventsFirst + kEventsLast) events.erase(events.begin() + kEventsFirst);
  events.push_back(event);
}

ErrorKey History::fail_attempt(ErrorKey error, Timestamp now, std::uint16_t company) {
  end_attempt(AttemptEnd::failed, now);
  if (attempts.empty()) return error;  // After a repair there may be no attempt.
  attempts.back().end = AttemptEnd::failed;
  attempts.back().company = company;
  return std::exchange(attempts.back().error, error);
}

std::span<const Attempt> History::recent(std::uint32_t deliveries) const {
  const std::size_t kept = attempts_total > attempts.size() ? kAttemptsLast : attempts.size();
  return std::span(attempts).last(std::min({std::size_t{deliveries}, kept, attempts.size()}));
}

void History::end_attempt(AttemptEnd how, Timestamp now) {
  if (attempts.empty() || attempts.back().end != AttemptEnd::open) return;
  attempts.back().end = how;
  const std::int64_t lasted = std::max<std::int64_t>(0, (now - received_at).count());
  attempts.back().duration_ms =
      static_cast<std::uint32_t>(std::min<std::int64_t>(lasted, UINT32_MAX));
}

void History::clear() {
  std::vector<Attempt> attempts_room = std::move(attempts);
  std::vector<LineageEvent> events_room = std::move(events);
  attempts_room.clear();
  events_room.clear();
  *this = History{};
  attempts = std::move(attempts_room);
  events = std::move(events_room);
}

}  // namespace redrive::queue
