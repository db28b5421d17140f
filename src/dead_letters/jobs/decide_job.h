#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/queue/move_task.h"
#include "core/queue/state.h"

// What a running job does next. Pure: equal arguments give equal decisions.
namespace redrive::dead_letters {

// Where a dead letter goes: to the job's destination, or to the queue it came from.
struct JobTarget {
  const queue::Queue* queue = nullptr;
  std::string_view failure;  // Why there is none.
};
JobTarget decide_target(const queue::State& state, const queue::MoveTask& task, queue::Slot slot);

// Whether a job may move more, judged by what became of the messages it has moved: the circuit
// breaker, and the stages of a canary.
struct WatchVerdict {
  enum class Kind { move, wait, next_stage, halt };

  Kind kind = Kind::move;
  std::string note = {};  // Why it halts.
};
// `watched_since`: when the last message of the stage was moved.
WatchVerdict decide_watch(const queue::MoveTask& task, Timestamp watched_since, Timestamp now);

// The token bucket of a job with a rate.
struct JobTokens {
  Timestamp since;          // Tokens are counted from here.
  std::uint64_t moved = 0;  // Messages moved since then.

  // When the next token is there.
  Timestamp next_at(std::uint32_t rate) const;
};
// How many messages the job may move now; a bucket that was full for a second starts anew.
std::uint64_t decide_quota(const queue::MoveTask& task, JobTokens& tokens, Timestamp now);
// How many messages the job moves in all.
std::uint64_t moves_max(const queue::MoveTask& task);

}  // namespace redrive::dead_letters
