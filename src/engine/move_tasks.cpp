// Redrive jobs and message move tasks: dead letters on their way back, a record at a time.

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/originals.h"

namespace redrive::engine {
namespace {

using queue::Change;
using queue::MoveTask;
using queue::Queue;
using queue::TaskStatus;

constexpr std::uint64_t kMovesPerTurn = 256;
// Bodies that are read at a time: so many, or so many bytes and one more.
constexpr std::size_t kReadAtOnce = 64;
constexpr std::size_t kReadBytesAtOnce = 4u << 20;
// Messages of a selection looked up in a turn, taken or not.
constexpr std::size_t kLooksPerTurn = 500;
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
void Engine::adopt_task(queue::TaskKey key, Timestamp now) {
  const MoveTask* task = store_.state().find_task(key);
  if (task == nullptr || task->status != TaskStatus::running) {
    task_runs_.erase(key);
  } else if (!task_runs_.contains(key)) {
    TaskRun run{.since = now, .moved = 0, .next = now};
    run.watched_since = now;
    task_runs_.emplace(key, std::move(run));
  }
  note_task_wake();
}

void Engine::note_task_wake() {
  task_wake_ = kNever;
  for (const auto& [key, run] : task_runs_) task_wake_ = std::min(task_wake_, run.next);
}

// Those that have been due for longest come first, and what one turn is too short for is due again
// at once.
void Engine::run_tasks(Turn& turn) {
  std::vector<std::pair<Timestamp, queue::TaskKey>> due;
  if (task_wake_ > turn.stamp().now) return;
  for (const auto& [key, run] : task_runs_) {
    if (run.next <= turn.stamp().now) due.emplace_back(run.next, key);
  }
  std::ranges::sort(due);
  for (const auto& [at, key] : due) {
    const MoveTask* task = store_.state().find_task(key);
    if (task == nullptr || task->status != TaskStatus::running) {
      task_runs_.erase(key);
    } else {
      run_task(turn, *task);
    }
    if (is_spent(turn)) break;
  }
  note_task_wake();
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

// Whether it is known what the plan takes. If not, the task has ended or goes on in another turn.
bool Engine::prepare_selection(Turn& turn, const MoveTask& task, const Queue& source,
                               TaskRun& run) {
  if (!run.selection) {
    auto selection = Selection::make(task.plan);
    if (!selection) {
      end_task(turn, task.key, TaskStatus::failed, selection.error().message);
      return false;
    }
    run.selection = std::move(*selection);
    run.selection->pass_over(redrives_max(source, task.plan));
  }
  while (!run.selection->is_filled()) {
    run.selection->fill(turn.state(), source);
    if (!run.selection->is_filled() && is_spent(turn)) {
      run.next = turn.stamp().now;
      return false;
    }
  }
  return true;
}

// The next messages of a selection, with what it takes to judge them outside the turn.
TaskReading Engine::gather(Turn& turn, const Queue& source, Selection& selection,
                           std::size_t max) const {
  TaskReading reading{.sieve = selection.sieve(), .pins = BodyPins(store_)};
  std::size_t looks = kLooksPerTurn;
  std::size_t bytes = 0;
  while (reading.candidates.size() < max && bytes < kReadBytesAtOnce) {
    const queue::Slot slot = selection.next(turn.state(), source, looks);
    if (slot == queue::kNoSlot) break;
    const queue::Message& message = turn.state().messages()[slot];
    reading.candidates.push_back(
        {.key = message.key, .body = message.body, .known = known_of(turn.state(), slot)});
    reading.pins->add(message.body);
    bytes += message.body.size;
  }
  return reading;
}

// Outside the turn.
void Engine::read(TaskReading& reading) const {
  for (TaskReading::Candidate& candidate : reading.candidates) {
    candidate.fit = Selection::Fit::yes;
    if (reading.sieve->is_empty()) continue;
    const auto stored = store_.read_message(candidate.key, candidate.body, candidate.stored);
    if (stored) {
      candidate.fit = reading.sieve->judge(candidate.known, *stored, candidate.changed);
    } else if (stored.error().code == ErrorCode::storage_damaged) {
      candidate.fit = Selection::Fit::damaged;
      candidate.damage = stored.error().message;
    } else {
      candidate.fit = Selection::Fit::unreadable;
    }
    if (candidate.changed.empty()) candidate.stored = {};
  }
  reading.pins.reset();
}

void Engine::begin_reading(Turn& turn, const Queue& source, queue::TaskKey task, TaskRun& run) {
  TaskReading reading = gather(turn, source, *run.selection, kReadAtOnce);
  if (reading.candidates.empty()) {
    if (run.selection->at_end()) return end_task(turn, task, TaskStatus::completed, {});
    run.next = turn.stamp().now;
    return;
  }
  reading.task = task;
  run.reading = std::make_shared<TaskReading>(std::move(reading));
  run.next = kNever;  // Until they are read.
  to_read_.push_back(run.reading);
}

void Engine::start_reading(const std::shared_ptr<TaskReading>& reading) {
  if (!hooks_.offload) return read_for_task(reading);
  hooks_.offload([this, reading] { read_for_task(reading); });
}

void Engine::read_for_task(const std::shared_ptr<TaskReading>& reading) {
  const Sequence before = journal_.appended();
  read(*reading);
  turn([&](Turn& turn) {
    const auto run = task_runs_.find(reading->task);
    if (run == task_runs_.end() || run->second.reading != reading) return;
    reading->done = true;
    run->second.next = turn.stamp().now;
    const MoveTask* task = store_.state().find_task(reading->task);
    if (task != nullptr && task->status == TaskStatus::running) run_task(turn, *task);
    note_task_wake();
  });
  if (journal_.appended() != before && hooks_.sync_wanted) hooks_.sync_wanted();
}

// The next message that was read, if it is still as it was and may be taken. What was changed
// meanwhile, and what is behind it, is read again.
queue::Slot Engine::next_read(Turn& turn, const Queue& source, TaskRun& run,
                              TaskReading::Candidate*& found) {
  TaskReading& reading = *run.reading;
  while (reading.at < reading.candidates.size()) {
    TaskReading::Candidate& candidate = reading.candidates[reading.at];
    const queue::Slot slot = run.selection->find_free(turn.state(), source, candidate.key);
    if (slot != queue::kNoSlot && turn.state().messages()[slot].body != candidate.body) {
      std::vector<queue::MessageKey> rest;
      for (std::size_t i = reading.at; i < reading.candidates.size(); ++i) {
        rest.push_back(reading.candidates[i].key);
      }
      run.selection->put_back(rest);
      reading.at = reading.candidates.size();
      break;
    }
    ++reading.at;
    if (slot == queue::kNoSlot) continue;
    found = &candidate;
    return slot;
  }
  return queue::kNoSlot;
}

void Engine::run_task(Turn& turn, const MoveTask& task) {
  const Timestamp now = turn.stamp().now;
  Queue* source = store_.state().find(task.source);
  if (source == nullptr)
    return end_task(turn, task.key, TaskStatus::failed, "AWS.SimpleQueueService.NonExistentQueue");
  turn.advance(*source);
  TaskRun& run = task_runs_[task.key];
  if (source->is_behind()) {
    run.next = now;
    return;
  }
  if (hold_back(turn, task, run)) return;
  const bool selected = has_selection(task.plan);
  if (selected && !prepare_selection(turn, task, *source, run)) return;
  const std::uint64_t quota = quota_of(task, run, now);
  const bool reads = selected && run.selection->reads();
  if (reads && quota > 0 && !run.reading && !run.selection->at_end()) {
    return begin_reading(turn, *source, task.key, run);
  }
  if (reads && run.reading && !run.reading->done) return;
  const Queue* bin = nullptr;  // For the originals of what a patch changes.
  if (selected && run.selection->sieve()->has_patch()) {
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
  std::vector<Unreadable> damaged;
  std::size_t edit_bytes = 0;
  const std::size_t edit_bytes_max =
      std::min<std::size_t>(kEditBytesPerRecord, journal_.payload_bytes_max() / 8);
  std::size_t looks = kLooksPerTurn;
  while (moved < quota && looks > 0 && edit_bytes < edit_bytes_max) {
    TaskReading::Candidate* candidate = nullptr;
    const queue::Slot slot = !selected     ? walk.next()
                             : !reads      ? run.selection->next(turn.state(), *source, looks)
                             : run.reading ? next_read(turn, *source, run, candidate)
                                           : queue::kNoSlot;
    if (slot == queue::kNoSlot) {
      const bool read_all = !run.reading || run.reading->at == run.reading->candidates.size();
      exhausted = !selected || (run.selection->at_end() && read_all);
      break;
    }
    const auto fit = candidate != nullptr ? candidate->fit : Selection::Fit::yes;
    if (fit == Selection::Fit::damaged) {
      damaged.push_back(
          {.key = candidate->key, .body = candidate->body, .error = candidate->damage});
      // The record that sets it aside comes before those of what is behind it in its group.
      if (source->settings.is_fifo()) break;
    }
    if (fit == Selection::Fit::unreadable) {
      run.selection->leave_group_of(turn.state(), *source, slot);
      const queue::Message& message = turn.state().messages()[slot];
      if (hooks_.log) {
        hooks_.log(
            fmt::format("message {} in segment {} at offset {} cannot be read; job {} leaves it",
                        number(message.key),
                        message.body.segment,
                        message.body.offset,
                        task.id.text()));
      }
    }
    if (fit != Selection::Fit::yes) continue;
    const Destination to = destination_of(turn.state(), task, slot);
    if (to.queue == nullptr) {
      failure = to.failure;
      break;
    }
    const queue::MessageKey key = turn.state().messages()[slot].key;
    if (candidate != nullptr && !candidate->changed.empty()) {
      const auto original = store::decode_message(candidate->stored);
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
      edit_bytes += candidate->stored.size() + candidate->changed.size();
      changes_.push_back(queue::MessageEdited{key, actor, reason, candidate->changed, {}});
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
  if (run.reading && run.reading->at == run.reading->candidates.size()) run.reading.reset();
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
    return {};
  }));
  while (!selection->is_filled()) {
    CHECK(turn([&](Turn& turn) -> Result<void> {
      const Queue& source = *TRY(turn.queue(identity));
      if (!source.is_behind()) selection->fill(turn.state(), source);
      return {};
    }));
    give_way();
  }
  chosen.candidates = selection->candidates();
  while (!selection->at_end() && chosen.scanned < scan_max && chosen.keys.size() < keys_max) {
    const std::size_t max = std::min(kReadAtOnce, scan_max - chosen.scanned);
    auto gathered = turn([&](Turn& turn) -> Result<TaskReading> {
      return gather(turn, *TRY(turn.queue(identity)), *selection, max);
    });
    TaskReading reading = TRY(std::move(gathered));
    give_way();
    read(reading);
    std::vector<Unreadable> damaged;
    for (const TaskReading::Candidate& candidate : reading.candidates) {
      ++chosen.scanned;
      if (candidate.fit == Selection::Fit::damaged) {
        damaged.push_back(
            {.key = candidate.key, .body = candidate.body, .error = candidate.damage});
      }
      if (candidate.fit != Selection::Fit::yes) continue;
      ++chosen.matched;
      if (chosen.keys.size() < keys_max) chosen.keys.push_back(candidate.key);
    }
    if (!damaged.empty()) turn([&](Turn& turn) { set_aside(turn, damaged); });
  }
  chosen.complete = selection->at_end();
  return chosen;
}

}  // namespace redrive::engine
