#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "core/engine/turn.h"
#include "dead_letters/jobs/decide_start.h"

// Starts, changes and cancels jobs, in the turn of the caller.
namespace redrive::dead_letters {

// The new job; valid until the turn ends.
Result<const queue::MoveTask*> start_job(engine::Turn& turn, const JobStart& start);

// Of a job that is not over.
struct JobChange {
  // Running, paused or halted; the note on why it is paused is dropped. None: as before.
  std::optional<queue::TaskStatus> status = {};
  std::optional<std::uint32_t> rate = {};
};
void change_job(engine::Turn& turn, const queue::MoveTask& task, const JobChange& change);
void cancel_job(engine::Turn& turn, const queue::MoveTask& task);

}  // namespace redrive::dead_letters
