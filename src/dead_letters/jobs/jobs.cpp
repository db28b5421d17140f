#include "dead_letters/jobs/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/queue/redrive.h"
#include "dead_letters/bin/decide_bin.h"

namespace redrive::dead_letters {
namespace {

using engine::Turn;
using queue::Change;
using queue::MoveTask;
using queue::Queue;
using queue::TaskStatus;

constexpr std::size_t kTasksPerTurn = 64;
// Bodies that are read at a time: so many, or so many bytes and one more.
constexpr std::size_t kReadAtOnce = 64;
constexpr std::size_t kReadBytesAtOnce = 4u << 20;
// Messages of a selection looked up in a turn, taken or not.
constexpr std::size_t kLooksPerTurn = 500;
// A record of edits holds no more than this and one message, before and after.
constexpr std::size_t kEditBytesPerRecord = 1u << 20;
constexpr Duration kWatchInterval{100};

bool has_selection(const queue::TaskPlan& plan) {
  return plan.frozen_at != 0;
}

// Whether a message is what it was when it was read: its bytes, and what memory knows of it. A
// consumer may have received it since, or reported another error.
bool is_as_read(const queue::State& state, queue::Slot slot, const queue::BodyRef& body,
                const KnownMessage& known) {
  return state.messages()[slot].body == body && known_of(state, slot) == known;
}

}  // namespace

// What one turn moves for a task.
struct Jobs::Batch {
  const MoveTask& task;
  const Queue& source;
  Run& run;
  std::uint64_t quota;
  const Queue* bin = nullptr;  // For the originals of messages that a patch changes.
  queue::ReadyWalk walk;       // Of a task without a selection.
  engine::ActorNames by = {};
  std::uint64_t sequence = 0;
  std::size_t looks = kLooksPerTurn;
  std::uint64_t moved = 0;
  std::size_t edit_bytes = 0;
  std::vector<engine::Unreadable> damaged = {};
  std::string_view failure = {};
  bool exhausted = false;

  bool selects() const { return has_selection(task.plan); }
  bool reads() const { return selects() && run.selection->reads(); }
};

void Jobs::start(Turn& turn) {
  for (const auto& [key, task] : turn.state().tasks()) adopt(turn, key);
  rearm();
}

void Jobs::noted(Turn& turn, const engine::Noted& noted) {
  for (const queue::TaskKey key : noted.tasks) adopt(turn, key);
  rearm();
}

void Jobs::reset(Turn&) {
  while (!runs_.empty()) forget(runs_.begin()->first);
  rearm();
}

// Runs the tasks that are to run from now on. A task that was paused and resumed is a new run, with
// a watch and tokens of its own.
void Jobs::adopt(Turn& turn, queue::TaskKey key) {
  const MoveTask* task = turn.state().find_task(key);
  const Timestamp now = turn.stamp().now;
  if (task == nullptr || task->status != TaskStatus::running) {
    forget(key);
  } else if (!runs_.contains(key)) {
    Run run{.tokens = {.since = now}, .next = now, .watched_since = now};
    runs_.emplace(key, std::move(run));
    rearm(key);
  }
}

void Jobs::rearm() {
  wake_at(wakes_.empty() ? kNever : wakes_.begin()->first);
}

// To be called when `next` of a run may have changed.
void Jobs::rearm(queue::TaskKey key) {
  const auto found = runs_.find(key);
  if (found == runs_.end() || found->second.wake == found->second.next) return;
  Run& run = found->second;
  if (run.wake != kNever) wakes_.erase({run.wake, key});
  run.wake = run.next;
  if (run.wake != kNever) wakes_.insert({run.wake, key});
}

void Jobs::forget(queue::TaskKey key) {
  const auto found = runs_.find(key);
  if (found == runs_.end()) return;
  if (found->second.wake != kNever) wakes_.erase({found->second.wake, key});
  if (found->second.selection) retired_.push_back(std::move(found->second));
  runs_.erase(found);
}

// Frees selections outside the turn: they may have millions of entries.
bool Jobs::maintain() {
  std::vector<Run> retired;
  engine_.turn([&](Turn&) { retired.swap(retired_); });
  return false;
}

// Tasks that have been due for longest come first, and what one turn is too short for is due again
// at once.
void Jobs::run(Turn& turn) {
  std::vector<queue::TaskKey> due;
  for (const auto& [at, key] : wakes_) {
    if (at > turn.stamp().now || due.size() == kTasksPerTurn) break;
    due.push_back(key);
  }
  for (const queue::TaskKey key : due) {
    const MoveTask* task = turn.state().find_task(key);
    turn.state().count_work(1);
    if (task == nullptr || task->status != TaskStatus::running) {
      forget(key);
    } else {
      run_task(turn, *task);
      rearm(key);
    }
    if (turn.is_spent()) break;
  }
  rearm();
}

void Jobs::after_run() {
  std::vector<std::shared_ptr<Reading>> readings;
  {
    const MutexLock lock(to_read_mutex_);
    readings.swap(to_read_);
  }
  for (const auto& reading : readings) {
    if (options_.offload) {
      options_.offload([this, reading] { finish_reading(reading); });
    } else {
      finish_reading(reading);
    }
  }
}

void Jobs::halt(Turn& turn, const MoveTask& task, std::string note) {
  turn.commit(queue::MoveTaskChanged{.task = task.key,
                                     .status = TaskStatus::halted,
                                     .rate = task.rate,
                                     .stage = task.stage,
                                     .note = note});
  forget(task.key);
}

// Whether a job has to wait, or has stopped, because of what became of the messages it moved.
bool Jobs::hold_back(Turn& turn, const MoveTask& task, Run& run) {
  const Timestamp now = turn.stamp().now;
  while (true) {
    const WatchVerdict verdict = decide_watch(task, run.watched_since, now);
    switch (verdict.kind) {
      case WatchVerdict::Kind::move:
        return false;
      case WatchVerdict::Kind::halt:
        halt(turn, task, verdict.note);
        return true;
      case WatchVerdict::Kind::wait:
        run.next = now + kWatchInterval;
        return true;
      case WatchVerdict::Kind::next_stage:
        turn.commit(queue::MoveTaskChanged{.task = task.key,
                                           .status = TaskStatus::running,
                                           .rate = task.rate,
                                           .stage = task.stage + 1,
                                           .note = {}});
    }
  }
}

// Whether it is known what the plan takes. If not, the task has ended or goes on in another turn.
bool Jobs::prepare_selection(Turn& turn, const MoveTask& task, const Queue& source, Run& run) {
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
    if (!run.selection->is_filled() && turn.is_spent()) {
      run.next = turn.stamp().now;
      return false;
    }
  }
  return true;
}

// The next messages of a selection, with what it takes to judge them outside the turn.
Jobs::Reading Jobs::gather(Turn& turn, const Queue& source, Selection& selection,
                           std::size_t max) const {
  Reading reading{.sieve = selection.sieve(), .pins = engine::BodyPins(turn.store())};
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
void Jobs::read(Reading& reading) const {
  for (Reading::Candidate& candidate : reading.candidates) {
    candidate.fit = Selection::Fit::yes;
    if (reading.sieve->is_empty()) continue;
    const auto stored =
        engine_.store().read_message(candidate.key, candidate.body, candidate.stored);
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

void Jobs::begin_reading(Turn& turn, const Queue& source, queue::TaskKey task, Run& run) {
  Reading reading = gather(turn, source, *run.selection, kReadAtOnce);
  if (reading.candidates.empty()) {
    if (run.selection->at_end()) return end_task(turn, task, TaskStatus::completed, {});
    run.next = turn.stamp().now;
    return;
  }
  reading.task = task;
  run.reading = std::make_shared<Reading>(std::move(reading));
  run.next = kNever;  // Until they are read.
  const MutexLock lock(to_read_mutex_);
  to_read_.push_back(run.reading);
}

// Outside the turn: reads, then goes on with the task.
void Jobs::finish_reading(const std::shared_ptr<Reading>& reading) {
  const engine::Sequence before = engine_.appended();
  read(*reading);
  engine_.turn([&](Turn& turn) {
    const auto run = runs_.find(reading->task);
    if (run == runs_.end() || run->second.reading != reading) return;
    reading->done = true;
    run->second.next = turn.stamp().now;
    const MoveTask* task = turn.state().find_task(reading->task);
    if (task != nullptr && task->status == TaskStatus::running) run_task(turn, *task);
    rearm(reading->task);
    rearm();
  });
  engine_.sync_since(before);
}

// The next message that was read, if it may be taken. A message that has changed since, and
// everything behind it, is read again.
queue::Slot Jobs::next_read(Turn& turn, const Queue& source, Run& run, Reading::Candidate*& found) {
  Reading& reading = *run.reading;
  while (reading.at < reading.candidates.size()) {
    Reading::Candidate& candidate = reading.candidates[reading.at];
    const queue::Slot slot = run.selection->find_free(turn.state(), source, candidate.key);
    if (slot != queue::kNoSlot &&
        !is_as_read(turn.state(), slot, candidate.body, candidate.known)) {
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

void Jobs::run_task(Turn& turn, const MoveTask& task) {
  const Timestamp now = turn.stamp().now;
  Queue* source = turn.find(task.source);
  if (source == nullptr)
    return end_task(turn, task.key, TaskStatus::failed, "AWS.SimpleQueueService.NonExistentQueue");
  turn.advance(*source);
  Run& run = runs_[task.key];
  if (source->is_behind()) {
    run.next = now;
    return;
  }
  if (hold_back(turn, task, run)) return;
  const bool selected = has_selection(task.plan);
  if (selected && !prepare_selection(turn, task, *source, run)) return;
  const std::uint64_t quota = decide_quota(task, run.tokens, now);
  const bool reads = selected && run.selection->reads();
  if (reads && quota > 0 && !run.reading && !run.selection->at_end()) {
    return begin_reading(turn, *source, task.key, run);
  }
  if (reads && run.reading && !run.reading->done) return;
  Batch batch{.task = task,
              .source = *source,
              .run = run,
              .quota = quota,
              .walk = queue::ReadyWalk(turn.state().mailbox(*source))};
  if (selected && run.selection->sieve()->has_patch()) {
    const auto bin = bin_for(turn, source->identity);
    if (!bin) return end_task(turn, task.key, TaskStatus::failed, bin.error().message);
    batch.bin = *bin;
  }
  changes_.clear();
  batch.by = turn.names({.name = task.plan.actor, .reason = task.plan.reason}, changes_);
  const std::size_t names = changes_.size();
  batch.sequence = number(turn.state().last_key());
  gather_moves(turn, batch);
  batch.exhausted |= task.counts.moved + batch.moved >= moves_max(task);
  if (changes_.size() > names) turn.commit(changes_);
  finish_batch(turn, batch);
}

// The next message that may be taken; `found` is set when it had to be read.
queue::Slot Jobs::next_slot(Turn& turn, Batch& batch, Reading::Candidate*& found) {
  if (!batch.selects()) return batch.walk.next();
  Run& run = batch.run;
  if (!batch.reads()) return run.selection->next(turn.state(), batch.source, batch.looks);
  return run.reading ? next_read(turn, batch.source, run, found) : queue::kNoSlot;
}

// The facts of the moves of this turn.
void Jobs::gather_moves(Turn& turn, Batch& batch) {
  const std::size_t edit_bytes_max =
      std::min<std::size_t>(kEditBytesPerRecord, engine_.journal().payload_bytes_max() / 8);
  while (batch.moved < batch.quota && batch.looks > 0 && batch.edit_bytes < edit_bytes_max) {
    Reading::Candidate* candidate = nullptr;
    const queue::Slot slot = next_slot(turn, batch, candidate);
    if (slot == queue::kNoSlot) {
      const auto& reading = batch.run.reading;
      const bool read_all = !reading || reading->at == reading->candidates.size();
      batch.exhausted = !batch.selects() || (batch.run.selection->at_end() && read_all);
      return;
    }
    const auto fit = candidate != nullptr ? candidate->fit : Selection::Fit::yes;
    if (fit != Selection::Fit::yes) {
      leave(turn, batch, slot, *candidate);
      // The record that sets it aside comes before those of what is behind it in its group.
      if (fit == Selection::Fit::damaged && batch.source.settings.is_fifo()) return;
      continue;
    }
    const JobTarget to = decide_target(turn.state(), batch.task, slot);
    if (to.queue == nullptr) {
      batch.failure = to.failure;
      return;
    }
    if (!move_one(turn, batch, slot, *to.queue, candidate)) continue;
    ++batch.moved;
  }
}

// A message that is not moved stays, or is set aside when it is damaged.
void Jobs::leave(Turn& turn, Batch& batch, queue::Slot slot, const Reading::Candidate& candidate) {
  if (candidate.fit == Selection::Fit::damaged) {
    batch.damaged.push_back(
        {.key = candidate.key, .body = candidate.body, .error = candidate.damage});
  }
  if (candidate.fit != Selection::Fit::unreadable) return;
  batch.run.selection->leave_group_of(turn.state(), batch.source, slot);
  const queue::Message& message = turn.state().messages()[slot];
  engine_.log(fmt::format("message {} in segment {} at offset {} cannot be read; job {} skips it",
                          number(message.key),
                          message.body.segment,
                          message.body.offset,
                          batch.task.id.text()));
}

// Adds the facts of one move. False: the original of a patched message cannot be kept.
bool Jobs::move_one(Turn& turn, Batch& batch, queue::Slot slot, const Queue& to,
                    const Reading::Candidate* candidate) {
  const queue::MessageKey key = turn.state().messages()[slot].key;
  if (candidate != nullptr && !candidate->changed.empty()) {
    const auto original = store::decode_message(candidate->stored);
    if (!original) return false;
    keep_original(turn.state(),
                  {.queue = batch.source,
                   .slot = slot,
                   .stored = *original,
                   .bin = *batch.bin,
                   .key = static_cast<queue::MessageKey>(++batch.sequence),
                   .message_id = turn.ids().uuid(),
                   .actor = batch.by.actor,
                   .reason = batch.by.reason},
                  turn.stamp(),
                  changes_);
    batch.edit_bytes += candidate->stored.size() + candidate->changed.size();
    changes_.push_back(
        queue::MessageEdited{key, batch.by.actor, batch.by.reason, candidate->changed, {}});
  }
  changes_.push_back(queue::decide_redrive({.task = batch.task.key,
                                            .from = batch.source,
                                            .to = to,
                                            .actor = batch.by.actor,
                                            .reason = batch.by.reason},
                                           key,
                                           turn.ids().uuid(),
                                           ++batch.sequence));
  return true;
}

// After the record: the task ends, or its next turn is scheduled.
void Jobs::finish_batch(Turn& turn, const Batch& batch) {
  const MoveTask& task = batch.task;
  Run& run = batch.run;
  damage_.set_aside(turn, batch.damaged);
  if (run.reading && run.reading->at == run.reading->candidates.size()) run.reading.reset();
  run.tokens.moved += batch.moved;
  if (batch.moved > 0) run.watched_since = turn.stamp().now;
  if (!batch.failure.empty()) return end_task(turn, task.key, TaskStatus::failed, batch.failure);
  if (batch.exhausted) return end_task(turn, task.key, TaskStatus::completed, {});
  run.next = task.rate == 0 ? turn.stamp().now + options_.pause : run.tokens.next_at(task.rate);
}

std::uint32_t Jobs::redrives_max(const Queue& queue, const queue::TaskPlan& plan) const {
  const queue::DeadLetterPolicy* policy = policies_.of(queue);
  return policy != nullptr && !plan.include_parked ? policy->redrives_max : 0;
}

void Jobs::end_task(Turn& turn, queue::TaskKey task, TaskStatus status, std::string_view failure) {
  turn.commit(queue::MoveTaskEnded{.task = task, .status = status, .failure = failure});
  forget(task);
}

Result<Chosen> Jobs::choose(const queue::QueueIdentity& identity, queue::TaskPlan plan,
                            std::size_t scan_max, std::size_t keys_max) {
  Chosen chosen;
  std::optional<Selection> selection;
  RETURN_IF_ERROR(engine_.turn([&](Turn& turn) -> Result<void> {
    const Queue& source = *TRY(turn.queue(identity));
    if (plan.frozen_at == 0) plan.frozen_at = number(turn.state().last_key());
    selection = TRY(Selection::make(plan));
    selection->pass_over(redrives_max(source, plan));
    return {};
  }));
  while (!selection->is_filled()) {
    RETURN_IF_ERROR(engine_.turn([&](Turn& turn) -> Result<void> {
      const Queue& source = *TRY(turn.queue(identity));
      if (!source.is_behind()) selection->fill(turn.state(), source);
      return {};
    }));
    engine_.give_way();
  }
  chosen.candidates = selection->candidates();
  while (!selection->at_end() && chosen.scanned < scan_max && chosen.keys.size() < keys_max) {
    const std::size_t max = std::min(kReadAtOnce, scan_max - chosen.scanned);
    auto gathered = engine_.turn([&](Turn& turn) -> Result<Reading> {
      return gather(turn, *TRY(turn.queue(identity)), *selection, max);
    });
    Reading reading = TRY(std::move(gathered));
    engine_.give_way();
    read(reading);
    std::vector<engine::Unreadable> damaged;
    for (const Reading::Candidate& candidate : reading.candidates) {
      ++chosen.scanned;
      if (candidate.fit == Selection::Fit::damaged) {
        damaged.push_back(
            {.key = candidate.key, .body = candidate.body, .error = candidate.damage});
      }
      if (candidate.fit != Selection::Fit::yes) continue;
      ++chosen.matched;
      if (chosen.keys.size() < keys_max) chosen.keys.push_back(candidate.key);
    }
    if (!damaged.empty()) engine_.turn([&](Turn& turn) { damage_.set_aside(turn, damaged); });
  }
  chosen.complete = selection->at_end();
  return chosen;
}

}  // namespace redrive::dead_letters
