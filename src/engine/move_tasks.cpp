// Message move tasks: dead letters on their way back, a record at a time.

#include <algorithm>

#include "engine/engine.h"

namespace redrive::engine {
namespace {

using queue::Change;
using queue::MoveTask;
using queue::Queue;
using queue::TaskStatus;

constexpr std::uint64_t kMovesPerTurn = 256;

// Where a dead letter goes: the task's destination or the queue it came from.
struct Destination {
  const Queue* queue = nullptr;
  std::string_view failure;
};

Destination destination_of(const queue::State& state, const MoveTask& task, queue::Slot slot) {
  if (!task.destination_arn.empty()) {
    return {state.find_by_arn(task.destination_arn), "AWS.SimpleQueueService.NonExistentQueue"};
  }
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr || history->dead_letter_source == queue::NameIndex::none) {
    return {nullptr, "CouldNotDetermineMessageSource"};
  }
  return {state.find_by_arn(state.name(history->dead_letter_source)),
          "AWS.SimpleQueueService.NonExistentQueue"};
}

}  // namespace

void Engine::adopt_tasks(Timestamp now) {
  for (const auto& [key, task] : store_.state().tasks()) {
    if (task.status == TaskStatus::running && !task_runs_.contains(key)) {
      task_runs_[key] = {.since = now, .moved = 0, .next = now};
    }
  }
}

void Engine::run_tasks(Turn& turn) {
  std::vector<queue::TaskKey> due;
  for (const auto& [key, run] : task_runs_) {
    if (run.next <= turn.stamp().now) due.push_back(key);
  }
  for (const queue::TaskKey key : due) {
    const MoveTask* task = store_.state().find_task(key);
    if (task == nullptr || task->status != TaskStatus::running) {
      task_runs_.erase(key);
    } else {
      run_task(turn, *task);
    }
  }
}

void Engine::run_task(Turn& turn, const MoveTask& task) {
  const Timestamp now = turn.stamp().now;
  Queue* source = store_.state().find(task.source);
  if (source == nullptr)
    return end_task(turn, task.key, TaskStatus::failed, "AWS.SimpleQueueService.NonExistentQueue");
  turn.advance(*source);

  TaskRun& run = task_runs_[task.key];
  std::uint64_t quota = kMovesPerTurn;
  if (task.rate > 0) {
    // One message at once, then `rate` a second. A pause (a busy or stopped server) is not made up
    // for beyond a second.
    const auto elapsed = static_cast<std::uint64_t>((now - run.since).count());
    std::uint64_t earned = 1 + elapsed * task.rate / 1000;
    if (earned > run.moved + task.rate) {
      run = {.since = now, .moved = 0, .next = now};
      earned = 1;
    }
    quota = std::min(quota, earned - std::min(earned, run.moved));
  }
  quota = std::min(quota, task.to_move - std::min(task.to_move, task.moved));

  changes_.clear();
  std::string_view failure;
  std::uint64_t sequence = number(turn.state().last_key());
  queue::ReadyWalk walk(turn.state().mailbox(*source));
  while (changes_.size() < quota) {
    const queue::Slot slot = walk.next();
    if (slot == queue::kNoSlot) break;
    const Destination to = destination_of(turn.state(), task, slot);
    if (to.queue == nullptr) {
      failure = to.failure;
      break;
    }
    changes_.push_back(queue::MessageRedriven{.task = task.key,
                                              .key = turn.state().messages()[slot].key,
                                              .from = source->key,
                                              .to = to.queue->key,
                                              .message_id = ids_.uuid(),
                                              .sequence = ++sequence});
  }
  const std::uint64_t moved = changes_.size();
  const bool exhausted =
      moved < quota || task.moved + moved >= task.to_move;  // As counted before the commit below.
  if (moved > 0) turn.commit(changes_);
  run.moved += moved;
  if (!failure.empty()) return end_task(turn, task.key, TaskStatus::failed, failure);
  if (exhausted) return end_task(turn, task.key, TaskStatus::completed, {});
  run.next = task.rate == 0 ? now + task_pause_
                            : run.since + Duration(static_cast<std::int64_t>(
                                              (run.moved * 1000 + task.rate - 1) / task.rate));
}

void Engine::end_task(Turn& turn, queue::TaskKey task, TaskStatus status,
                      std::string_view failure) {
  turn.commit(queue::MoveTaskEnded{.task = task, .status = status, .failure = failure});
  task_runs_.erase(task);
}

}  // namespace redrive::engine
