// Redrive jobs and message move tasks: dead letters on their way back, a record at a time.

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "engine/engine.h"
#include "engine/originals.h"

namespace redrive::engine {
namespace {

using queue::Change;
using queue::MoveTask;
using queue::Queue;
using queue::TaskStatus;

constexpr std::uint64_t kMovesPerTurn = 256;
// When bodies have to be read: those of messages that do not fit count, too.
constexpr std::size_t kLooksPerTurn = 64;
// A record of edits holds no more than this and one message, before and after.
constexpr std::size_t kEditBytesPerRecord = 1u << 20;
constexpr Duration kWatchInterval{100};
// A circuit breaker judges only what has been tried often enough.
constexpr std::uint64_t kSettledMin = 20;

bool has_selection(const queue::TaskPlan& plan) {
  return plan.frozen_at != 0;
}

// Where a dead letter goes: the task's destination or the queue it came from.
struct Destination {
  const Queue* queue = nullptr;
  std::string_view failure;
};

// Of those that could fail since somebody last looked and let it go on.
bool too_many_failed(const MoveTask& task, std::uint64_t of) {
  if (task.plan.failure_percent_max >= 100) return false;
  const std::uint64_t failed = task.counts.failed_again - task.forgiven.failed_again;
  return failed * 100 > task.plan.failure_percent_max * of;
}

Destination destination_of(const queue::State& state, const MoveTask& task, queue::Slot slot) {
  if (!task.destination_arn.empty()) {
    const Queue* const named = state.find_by_arn(task.destination_arn);
    // An internal queue is no destination, whatever an old journal says.
    const bool usable = named != nullptr && !named->identity.is_hidden();
    return {usable ? named : nullptr, "AWS.SimpleQueueService.NonExistentQueue"};
  }
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr || history->dead_letter_source == queue::NameIndex::none) {
    return {nullptr, "CouldNotDetermineMessageSource"};
  }
  return {state.find_by_arn(state.name(history->dead_letter_source)),
          "AWS.SimpleQueueService.NonExistentQueue"};
}

}  // namespace

// Runs what is to run from now on. What was paused and goes on is a new run, with a watch and
// tokens of its own, whether or not anybody looked in between.
void Engine::adopt_tasks(Timestamp now) {
  std::erase_if(task_runs_, [&](const auto& entry) {
    const MoveTask* task = store_.state().find_task(entry.first);
    return task == nullptr || task->status != TaskStatus::running;
  });
  for (const auto& [key, task] : store_.state().tasks()) {
    if (task.status != TaskStatus::running || task_runs_.contains(key)) continue;
    TaskRun run{.since = now, .moved = 0, .next = now};
    run.watched_since = now;
    task_runs_.emplace(key, std::move(run));
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

void Engine::halt(Turn& turn, const MoveTask& task, std::string note) {
  turn.commit(queue::MoveTaskChanged{.task = task.key,
                                     .status = TaskStatus::halted,
                                     .rate = task.rate,
                                     .stage = task.stage,
                                     .note = note});
  task_runs_.erase(task.key);
}

// Whether a job has to wait, or has stopped, because of what became of the messages it moved.
bool Engine::hold_back(Turn& turn, const MoveTask& task, TaskRun& run) {
  const auto& counts = task.counts;
  const std::uint64_t settled = counts.settled() - task.forgiven.settled();
  // What was open when it was let go on is judged with what was moved since.
  const std::uint64_t at_stake = counts.moved - task.forgiven.settled() - task.forgiven.gone;
  const bool in_stage = task.stage < task.plan.stages.size();
  if (in_stage && counts.moved < task.plan.stages[task.stage]) return false;
  // The end of a stage waits for all; outside of stages a share of enough of them decides.
  const bool enough = in_stage ? counts.open() == 0 : settled >= kSettledMin;
  if ((enough && too_many_failed(task, settled)) || (in_stage && too_many_failed(task, at_stake))) {
    halt(turn,
         task,
         fmt::format("{} of {} redriven messages failed again",
                     counts.failed_again - task.forgiven.failed_again,
                     settled));
    return true;
  }
  if (!in_stage) return false;
  const Timestamp now = turn.stamp().now;
  if (counts.open() == 0) {
    turn.commit(queue::MoveTaskChanged{.task = task.key,
                                       .status = TaskStatus::running,
                                       .rate = task.rate,
                                       .stage = task.stage + 1,
                                       .note = {}});
    return hold_back(turn, task, run);
  }
  if (now >= run.watched_since + std::chrono::seconds(task.plan.watch_seconds)) {
    halt(turn,
         task,
         fmt::format("after {} s nobody knows yet what becomes of {} of {} redriven messages",
                     task.plan.watch_seconds,
                     counts.open(),
                     counts.moved));
    return true;
  }
  run.next = now + kWatchInterval;
  return true;
}

std::uint64_t Engine::quota_of(const MoveTask& task, TaskRun& run, Timestamp now) const {
  std::uint64_t quota = kMovesPerTurn;
  if (task.rate > 0) {
    // One message at once, then `rate` a second. A pause (a busy or stopped server) is not made up
    // for beyond a second.
    const auto elapsed = static_cast<std::uint64_t>((now - run.since).count());
    std::uint64_t earned = 1 + elapsed * task.rate / 1000;
    if (earned > run.moved + task.rate) {
      run.since = now;
      run.moved = 0;
      earned = 1;
    }
    quota = std::min(quota, earned - std::min(earned, run.moved));
  }
  std::uint64_t total = task.to_move;
  if (task.plan.limit > 0) total = std::min(total, task.plan.limit);
  if (task.stage < task.plan.stages.size()) {
    total = std::min<std::uint64_t>(total, task.plan.stages[task.stage]);
  }
  return std::min(quota, total - std::min(total, task.counts.moved));
}

void Engine::run_task(Turn& turn, const MoveTask& task) {
  const Timestamp now = turn.stamp().now;
  Queue* source = store_.state().find(task.source);
  if (source == nullptr)
    return end_task(turn, task.key, TaskStatus::failed, "AWS.SimpleQueueService.NonExistentQueue");
  turn.advance(*source);
  TaskRun& run = task_runs_[task.key];
  if (hold_back(turn, task, run)) return;
  const bool selected = has_selection(task.plan);
  if (selected && !run.selection) {
    auto selection = Selection::make(task.plan);
    if (!selection) return end_task(turn, task.key, TaskStatus::failed, selection.error().message);
    run.selection = std::move(*selection);
    run.selection->pass_over(redrives_max(*source, task.plan));
    run.selection->fill(turn.state(), *source);
  }
  const std::uint64_t quota = quota_of(task, run, now);
  const Queue* bin = nullptr;  // For the originals of what a patch changes.
  if (selected && run.selection->has_patch()) {
    const auto found = turn.bin(source->identity);
    if (!found) return end_task(turn, task.key, TaskStatus::failed, found.error().message);
    bin = *found;
  }

  changes_.clear();
  const queue::NameIndex actor = turn.name(task.plan.actor, changes_);
  const queue::NameIndex reason = turn.name(task.plan.reason, changes_);
  const std::size_t names = changes_.size();
  std::string_view failure;
  std::uint64_t sequence = number(turn.state().last_key());
  std::uint64_t moved = 0;
  bool exhausted = false;
  queue::ReadyWalk walk(turn.state().mailbox(*source));
  std::deque<std::string> edits;
  std::vector<Unreadable> damaged;
  std::size_t edit_bytes = 0;
  const std::size_t edit_bytes_max =
      std::min<std::size_t>(kEditBytesPerRecord, journal_.payload_bytes_max() / 8);
  const std::size_t looks_max = selected && run.selection->reads() ? kLooksPerTurn : SIZE_MAX;
  for (std::size_t looks = 0; moved < quota && looks < looks_max && edit_bytes < edit_bytes_max;
       ++looks) {
    const queue::Slot slot = selected ? run.selection->next(turn.state(), *source) : walk.next();
    exhausted = slot == queue::kNoSlot;
    if (exhausted) break;
    std::string changed;
    const auto fit = selected ? run.selection->fits(store_, slot, changed) : Selection::Fit::yes;
    if (fit == Selection::Fit::damaged) {
      const queue::Message& message = turn.state().messages()[slot];
      damaged.push_back(
          {.key = message.key, .body = message.body, .error = run.selection->damage()});
    }
    if (fit == Selection::Fit::unreadable && hooks_.log) {
      const queue::Message& message = turn.state().messages()[slot];
      hooks_.log(
          fmt::format("message {} in segment {} at offset {} cannot be read; job {} leaves it",
                      number(message.key),
                      message.body.segment,
                      message.body.offset,
                      task.id.text()));
    }
    if (fit != Selection::Fit::yes) continue;
    const Destination to = destination_of(turn.state(), task, slot);
    if (to.queue == nullptr) {
      failure = to.failure;
      break;
    }
    const queue::MessageKey key = turn.state().messages()[slot].key;
    if (!changed.empty()) {
      std::string& bytes = edits.emplace_back();
      const auto original = store_.read_message(key, turn.state().messages()[slot].body, bytes);
      if (!original) continue;
      keep_original(turn.state(),
                    {.queue = *source,
                     .slot = slot,
                     .stored = *original,
                     .bin = *bin,
                     .key = static_cast<queue::MessageKey>(++sequence),
                     .message_id = ids_.uuid(),
                     .actor = actor,
                     .reason = reason},
                    turn.stamp(),
                    changes_);
      const std::string& stored = edits.emplace_back(std::move(changed));
      edit_bytes += bytes.size() + stored.size();
      changes_.push_back(queue::MessageEdited{key, actor, reason, stored, {}});
    }
    changes_.push_back(queue::MessageRedriven{.task = task.key,
                                              .key = key,
                                              .from = source->key,
                                              .to = to.queue->key,
                                              .message_id = ids_.uuid(),
                                              .sequence = ++sequence,
                                              .actor = actor,
                                              .reason = reason});
    ++moved;
  }
  const std::uint64_t total =
      task.plan.limit > 0 ? std::min(task.plan.limit, task.to_move) : task.to_move;
  exhausted = exhausted || task.counts.moved + moved >= total;
  if (changes_.size() > names) turn.commit(changes_);
  set_aside(turn, damaged);
  run.moved += moved;
  if (moved > 0) run.watched_since = now;
  if (!failure.empty()) return end_task(turn, task.key, TaskStatus::failed, failure);
  if (exhausted) return end_task(turn, task.key, TaskStatus::completed, {});
  run.next = task.rate == 0 ? now + task_pause_
                            : run.since + Duration(static_cast<std::int64_t>(
                                              (run.moved * 1000 + task.rate - 1) / task.rate));
}

std::uint32_t Engine::redrives_max(const Queue& queue, const queue::TaskPlan& plan) const {
  const queue::DeadLetterPolicy* policy = policy_of(queue);
  return policy != nullptr && !plan.include_parked ? policy->redrives_max : 0;
}

void Engine::end_task(Turn& turn, queue::TaskKey task, TaskStatus status,
                      std::string_view failure) {
  turn.commit(queue::MoveTaskEnded{.task = task, .status = status, .failure = failure});
  task_runs_.erase(task);
}

Result<Chosen> Engine::choose(const queue::QueueIdentity& identity, queue::TaskPlan plan,
                              std::size_t scan_max, std::size_t keys_max) {
  Chosen chosen;
  std::optional<Selection> selection;
  CHECK(turn([&](Turn& turn) -> Result<void> {
    const Queue& source = *TRY(turn.queue(identity));
    if (plan.frozen_at == 0) plan.frozen_at = number(turn.state().last_key());
    selection = TRY(Selection::make(plan));
    selection->pass_over(redrives_max(source, plan));
    selection->fill(turn.state(), source);
    chosen.candidates = selection->candidates();
    return {};
  }));
  bool done = false;
  while (!done && chosen.scanned < scan_max && chosen.keys.size() < keys_max) {
    CHECK(turn([&](Turn& turn) -> Result<void> {
      const Queue& source = *TRY(turn.queue(identity));
      const std::size_t looks = selection->reads() ? kLooksPerTurn : kMovesPerTurn;
      std::vector<Unreadable> damaged;
      for (std::size_t i = 0; i < looks && !done && chosen.scanned < scan_max; ++i) {
        const queue::Slot slot = selection->next(turn.state(), source);
        done = slot == queue::kNoSlot;
        if (done) break;
        ++chosen.scanned;
        std::string changed;
        const auto fit = selection->fits(store_, slot, changed);
        if (fit == Selection::Fit::damaged) {
          const queue::Message& message = turn.state().messages()[slot];
          damaged.push_back(
              {.key = message.key, .body = message.body, .error = selection->damage()});
        }
        if (fit != Selection::Fit::yes) continue;
        ++chosen.matched;
        if (chosen.keys.size() < keys_max) {
          chosen.keys.push_back(turn.state().messages()[slot].key);
        }
      }
      set_aside(turn, damaged);
      return {};
    }));
  }
  chosen.complete = done;
  return chosen;
}

}  // namespace redrive::engine
