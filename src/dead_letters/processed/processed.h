#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "core/engine/engine.h"
#include "dead_letters/triage/features.h"

namespace redrive::dead_letters {

// Counts features of the messages that consumers processed, so that triage can tell what sets the
// dead letters apart. Counts are recorded now and then.
class Processed final : public engine::Extension {
 public:
  explicit Processed(engine::Engine& engine) : engine_(engine) {}

  void noted(engine::Turn& turn, const engine::Noted& noted) override;
  bool maintain() override;

  // Reads and counts the messages sampled since the last call.
  void count();
  // The counts of a queue.
  triage::FeatureCounts of(const queue::QueueIdentity& queue);

 private:
  struct Counts {
    triage::FeatureCounts counts;
    Timestamp recorded_at;  // When it was last written to the journal.
    Duration interval{};    // Until it may be written again.
    bool changed = false;   // Since then.
  };

  Counts& counts_of(queue::QueueKey key, const std::string& recorded) REQUIRES(mutex_);
  void record() REQUIRES(mutex_);

  engine::Engine& engine_;
  std::vector<queue::QueueKey> gone_;  // Queues to forget. In turn.
  Mutex mutex_;                        // Taken before the turn, never within it.
  std::map<queue::QueueKey, Counts> counts_ GUARDED_BY(mutex_);
};

}  // namespace redrive::dead_letters
