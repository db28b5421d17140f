#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "core/engine/engine.h"
#include "dead_letters/damage/damage.h"
#include "dead_letters/jobs/decide_job.h"
#include "dead_letters/jobs/selection.h"
#include "dead_letters/policy/policy_book.h"

namespace redrive::dead_letters {

// What a plan would take.
struct Chosen {
  std::size_t candidates = 0;           // By place and group alone.
  std::size_t scanned = 0;              // Of those: read.
  std::size_t matched = 0;              // Of those: taken.
  std::vector<queue::MessageKey> keys;  // Of the first of these.
  bool complete = false;                // All have been looked at.
};

struct JobOptions {
  // Between turns of a job without a rate: other work comes first. Zero where time stands still.
  Duration pause{1};
  // Runs work that reads many bodies, on a thread that may take its time. Empty: on the thread
  // that ticks, outside the turn.
  std::function<void(std::function<void()>)> offload = {};
};

// Redrive jobs and SQS message move tasks: dead letters on their way back, a record at a time. What
// is recorded of a job is a queue::MoveTask; a run is what this process knows of one that runs.
class Jobs final : public engine::Extension {
 public:
  Jobs(engine::Engine& engine, const PolicyBook& policies, Damage& damage, JobOptions options)
      : engine_(engine), policies_(policies), damage_(damage), options_(std::move(options)) {}

  void start(engine::Turn& turn) override;
  void noted(engine::Turn& turn, const engine::Noted& noted) override;
  void run(engine::Turn& turn) override;
  void after_run() override;
  bool maintain() override;
  void reset(engine::Turn& turn) override;

  // What a plan would take from a queue now: counts, and the keys of the first ones. Looks at
  // `scan_max` messages at most.
  Result<Chosen> choose(const queue::QueueIdentity& queue, queue::TaskPlan plan,
                        std::size_t scan_max, std::size_t keys_max);

 private:
  // Messages of a selection on their way through its filter and patch: gathered in turn, read and
  // judged outside of it.
  struct Reading {
    struct Candidate {
      queue::MessageKey key;
      queue::BodyRef body;
      KnownMessage known;
      std::string stored = {};  // Its bytes, for patches.
      std::string changed = {};
      Selection::Fit fit = Selection::Fit::no;
      std::string damage = {};  // What is wrong with it, when it is damaged.
    };

    queue::TaskKey task = queue::TaskKey::none;
    std::shared_ptr<const Sieve> sieve = {};
    std::vector<Candidate> candidates = {};
    std::optional<engine::BodyPins> pins = {};  // Until they are read.
    std::size_t at = 0;                         // The next to be moved.
    bool done = false;                          // They have been read. Written in turn.
  };
  struct Run {
    JobTokens tokens;
    Timestamp next;
    Timestamp wake = kNever;  // Its entry in wakes_.
    Timestamp watched_since;  // Canary: when the last of the stage was moved.
    // What a plan takes, determined when it first runs; none: whatever is there.
    std::optional<Selection> selection;
    // Messages that were read to determine whether the plan is for them.
    std::shared_ptr<Reading> reading;
  };
  struct Batch;

  void adopt(engine::Turn& turn, queue::TaskKey key);
  void run_task(engine::Turn& turn, const queue::MoveTask& task);
  bool prepare_selection(engine::Turn& turn, const queue::MoveTask& task,
                         const queue::Queue& source, Run& run);
  void begin_reading(engine::Turn& turn, const queue::Queue& source, queue::TaskKey task, Run& run);
  Reading gather(engine::Turn& turn, const queue::Queue& source, Selection& selection,
                 std::size_t max) const;
  void read(Reading& reading) const;
  void finish_reading(const std::shared_ptr<Reading>& reading);
  queue::Slot next_read(engine::Turn& turn, const queue::Queue& source, Run& run,
                        Reading::Candidate*& found);
  queue::Slot next_slot(engine::Turn& turn, Batch& batch, Reading::Candidate*& found);
  void gather_moves(engine::Turn& turn, Batch& batch);
  void leave(engine::Turn& turn, Batch& batch, queue::Slot slot,
             const Reading::Candidate& candidate);
  bool move_one(engine::Turn& turn, Batch& batch, queue::Slot slot, const queue::Queue& to,
                const Reading::Candidate* candidate);
  void finish_batch(engine::Turn& turn, const Batch& batch);
  void rearm(queue::TaskKey task);
  void rearm();
  void forget(queue::TaskKey task);
  bool hold_back(engine::Turn& turn, const queue::MoveTask& task, Run& run);
  void halt(engine::Turn& turn, const queue::MoveTask& task, std::string note);
  std::uint32_t redrives_max(const queue::Queue& queue, const queue::TaskPlan& plan) const;
  void end_task(engine::Turn& turn, queue::TaskKey task, queue::TaskStatus status,
                std::string_view failure);

  engine::Engine& engine_;
  const PolicyBook& policies_;
  Damage& damage_;
  const JobOptions options_;
  // In turn.
  std::map<queue::TaskKey, Run> runs_;
  std::set<std::pair<Timestamp, queue::TaskKey>> wakes_;  // By their `next`.
  std::vector<Run> retired_;                              // To be freed outside the turn.
  std::vector<queue::Change> changes_;                    // Reused.
  Mutex to_read_mutex_;                                   // Taken within the turn.
  std::vector<std::shared_ptr<Reading>> to_read_
      GUARDED_BY(to_read_mutex_);  // To be started after the turn.
};

}  // namespace redrive::dead_letters
