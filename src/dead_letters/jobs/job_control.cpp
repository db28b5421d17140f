#include "dead_letters/jobs/job_control.h"

#include <cassert>
#include <string>

namespace redrive::dead_letters {

using queue::MoveTask;

Result<const MoveTask*> start_job(engine::Turn& turn, const JobStart& start) {
  const queue::MoveTaskStarted fact = TRY(decide_start(turn.state(), start, turn.ids().uuid()));
  turn.commit(fact);
  return turn.state().find_task(fact.task);
}

void change_job(engine::Turn& turn, const MoveTask& task, const JobChange& change) {
  assert(!is_over(task.status) && !(change.status && is_over(*change.status)));
  // A copy: the fact changes the text it points at.
  const std::string note = change.status ? std::string() : task.failure;
  turn.commit(queue::MoveTaskChanged{.task = task.key,
                                     .status = change.status.value_or(task.status),
                                     .rate = change.rate.value_or(task.rate),
                                     .stage = task.stage,
                                     .note = note});
}

void cancel_job(engine::Turn& turn, const MoveTask& task) {
  assert(!is_over(task.status));
  turn.commit(queue::MoveTaskEnded{task.key, queue::TaskStatus::cancelled, {}});
}

}  // namespace redrive::dead_letters
