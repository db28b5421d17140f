#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "core/queue/change.h"
#include "core/queue/state.h"

// Whether a job may be started. These rules hold for SQS message move tasks and for jobs of the
// management API. Pure: equal arguments give equal decisions.
namespace redrive::dead_letters {

// Messages move to another queue of the same type.
Result<void> check_destination(const queue::Queue& source, const queue::Queue& destination);

// Whether a redrive policy names the queue. SQS starts tasks only for these.
bool is_dead_letter_target(const queue::State& state, const queue::Queue& queue);
// Whether messages of the queue are dead letters: the policy of another queue names it, or it still
// has some.
bool has_dead_letters(const queue::State& state, const queue::Queue& queue);

struct JobStart {
  const queue::Queue& source;
  std::string_view source_arn;
  std::string_view destination_arn = {};  // Empty: each message goes to the queue it came from.
  std::uint32_t rate = 0;                 // Messages a second; 0: no limit.
  std::uint64_t to_move = 0;
  const queue::TaskPlan& plan;
  // The answer if another job of the queue is active: the APIs have different texts.
  std::string_view busy;
};
Result<queue::MoveTaskStarted> decide_start(const queue::State& state, const JobStart& start,
                                            const Uuid& id);

}  // namespace redrive::dead_letters
