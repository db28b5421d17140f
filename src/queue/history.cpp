#include "queue/history.h"

#include <algorithm>
#include <utility>

namespace redrive::queue {

void History::add(const Attempt& attempt) {
  ++attempts_total;
  if (attempts.size() == kAttemptsFirst + kAttemptsLast)
    attempts.erase(attempts.begin() + kAttemptsFirst);
  attempts.push_back(attempt);
}

void History::end_attempt(AttemptEnd how, Timestamp now) {
  if (attempts.empty() || attempts.back().end != AttemptEnd::open) return;
  attempts.back().end = how;
  const std::int64_t lasted = std::max<std::int64_t>(0, (now - received_at).count());
  attempts.back().duration_ms =
      static_cast<std::uint32_t>(std::min<std::int64_t>(lasted, UINT32_MAX));
}

void History::clear() {
  std::vector<Attempt> room = std::move(attempts);
  room.clear();
  *this = History{};
  attempts = std::move(room);
}

}  // namespace redrive::queue
