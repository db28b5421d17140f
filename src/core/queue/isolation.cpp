#include "core/queue/isolation.h"

#include <algorithm>
#include <ranges>

namespace redrive::queue {

bool is_judged(const Attempt& attempt) {
  return attempt.isolation == Isolation::off ||
         (attempt.end == AttemptEnd::failed && !attempt.is_shared());
}

std::uint32_t counted_receives(std::span<const Attempt> recent, std::uint32_t receives) {
  const auto not_run = std::ranges::count(recent, Isolation::not_run, &Attempt::isolation);
  return receives - std::min(receives, static_cast<std::uint32_t>(not_run));
}

bool is_spent(std::span<const Attempt> recent, std::uint32_t receives, std::uint32_t receives_max) {
  if (receives < receives_max) return false;
  if (recent.empty() || recent.back().isolation == Isolation::off) return true;
  if (counted_receives(recent, receives) < receives_max) return false;
  std::size_t unjudged = 0;
  for (const Attempt& attempt : std::views::reverse(recent)) {
    if (attempt.isolation == Isolation::not_run) continue;
    if (is_judged(attempt)) return unjudged == 0;
    if (++unjudged == kUnjudgedMax) return true;
  }
  return false;
}

bool must_run_alone(std::span<const Attempt> before) {
  for (const Attempt& attempt : std::views::reverse(before)) {
    if (attempt.isolation == Isolation::not_run) continue;
    if (attempt.end == AttemptEnd::failed) return attempt.company > 0;
    return attempt.isolation == Isolation::on;
  }
  return false;
}

}  // namespace redrive::queue
