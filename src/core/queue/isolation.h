#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/queue/history.h"

// Isolation of retries: a message that failed in a batch runs alone before it can become a dead
// letter, so that one bad message does not take the others of its batch with it.
//
// All functions are pure. `recent` are the attempts of a message's present stay in its queue, as
// far as they are kept (History::recent).

namespace redrive::queue {

// A message that no run could judge, because the server went down during the run, becomes a dead
// letter after this many such deliveries in a row: it may be what crashes the server.
inline constexpr std::size_t kUnjudgedMax = 10;
static_assert(kUnjudgedMax <= kAttemptsLast);

// Whether the attempt judged this message individually, not only its batch.
bool is_judged(const Attempt& attempt);

// How many of the `receives` of this stay count against maxReceiveCount: not those that were
// returned before a handler saw the message.
std::uint32_t counted_receives(std::span<const Attempt> recent, std::uint32_t receives);

// Whether the message has had all its receives and is dead-lettered instead of delivered. Without
// isolation at the last receive this is receives >= receives_max, as on AWS. With it, a last
// receive that did not judge the message grants one more.
bool is_spent(std::span<const Attempt> recent, std::uint32_t receives, std::uint32_t receives_max);

// Whether the next run of the message must have no other message in its batch: its last run failed
// as a whole, or ended without a result. `before` are the attempts before the present one.
bool must_run_alone(std::span<const Attempt> before);

// The index in history.attempts of the attempt whose error best explains the failure: the last one
// of the present life (its last `deliveries`) with an error of its own, else the last one with an
// error. `has_error(place)` says which have one.
template <class HasError>
std::optional<std::size_t> telling_attempt(const History& history, std::uint32_t deliveries,
                                           HasError has_error) {
  std::optional<std::size_t> any;
  const std::size_t before_life = history.attempts.size() - history.recent(deliveries).size();
  for (std::size_t i = history.attempts.size(); i-- > 0;) {
    if (!has_error(i)) continue;
    if (i >= before_life && !history.attempts[i].is_shared()) return i;
    if (!any) any = i;
  }
  return any;
}

}  // namespace redrive::queue
