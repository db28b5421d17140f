#include "dead_letters/processed/processed.h"

#include <algorithm>

#include "dead_letters/view/stored_view.h"

namespace redrive::dead_letters {
namespace {

using engine::ProcessedSample;
using engine::Turn;

// How long a queue's counts are changed in memory only: ten seconds, or a second for each KiB, so
// that a queue adds at most 1 KiB a second to the journal.
constexpr Duration kRecordInterval{10'000};
constexpr std::size_t kRecordedBytesPerSecond = 1024;

Duration record_interval(std::size_t bytes) {
  return std::max<Duration>(kRecordInterval, std::chrono::seconds(bytes / kRecordedBytesPerSecond));
}

}  // namespace

// A queue is gone: what is counted for it will be dropped.
void Processed::noted(Turn& turn, const engine::Noted& noted) {
  for (const queue::QueueKey key : noted.queues) {
    if (turn.find(key) == nullptr && engine_.processed_samples().has_seen(key)) {
      gone_.push_back(key);
    }
  }
}

bool Processed::maintain() {
  count();
  return false;
}

Processed::Counts& Processed::counts_of(queue::QueueKey key, const std::string& recorded) {
  const auto [at, fresh] = counts_.try_emplace(key);
  if (fresh && !recorded.empty()) {
    if (auto counts = triage::FeatureCounts::decode(recorded)) {
      at->second.counts = std::move(*counts);
    }
  }
  return at->second;
}

void Processed::count() {
  MutexLock order(mutex_);
  std::vector<ProcessedSample> samples;
  std::map<queue::QueueKey, std::string> recorded;
  std::map<queue::NameIndex, std::string> consumers;
  engine_.turn([&](Turn& turn) REQUIRES(mutex_) {
    samples = engine_.processed_samples().take();
    for (const queue::QueueKey gone : gone_) {
      counts_.erase(gone);
      engine_.processed_samples().forget(gone);
    }
    gone_.clear();
    for (const ProcessedSample& sample : samples) {
      const queue::Queue* queue = turn.state().find(sample.queue);
      if (queue != nullptr && !counts_.contains(sample.queue)) {
        recorded[sample.queue] = queue->processed;
      }
      if (sample.consumer == queue::NameIndex::none) continue;
      const auto [at, fresh] = consumers.try_emplace(sample.consumer);
      if (fresh) at->second = turn.state().name(sample.consumer);
    }
  });
  std::string bytes;
  for (const ProcessedSample& sample : samples) {
    Counts& counts = counts_of(sample.queue, recorded[sample.queue]);
    bytes.resize(sample.body.size);
    const bool read = engine_.store().read(sample.body, bytes.data()).has_value();
    const auto stored = read ? store::decode_message(bytes) : std::nullopt;
    engine_.store().unpin(sample.body);
    if (!stored) continue;
    StoredView view(*stored);
    const auto consumer = consumers.find(sample.consumer);
    counts.counts.add(view.features(
        {.consumer = consumer == consumers.end() ? std::string_view() : consumer->second,
         .first_attempt = sample.first_attempt}));
    counts.changed = true;
  }
  record();
}

void Processed::record() {
  for (auto& [key, counts] : counts_) {
    if (!counts.changed || engine_.now() < counts.recorded_at + counts.interval) continue;
    const std::string text = counts.counts.encode();
    engine_.turn([&](Turn& turn) {
      if (turn.state().find(key) != nullptr) turn.commit(queue::ProcessedCounted{key, text});
      counts.recorded_at = turn.stamp().now;
    });
    counts.interval = record_interval(text.size());
    counts.changed = false;
  }
}

triage::FeatureCounts Processed::of(const queue::QueueIdentity& identity) {
  count();
  MutexLock order(mutex_);
  queue::QueueKey key = queue::QueueKey::none;
  std::string recorded;
  engine_.turn([&](Turn& turn) {
    if (const queue::Queue* queue = turn.state().find(identity)) {
      key = queue->key;
      recorded = queue->processed;
    }
  });
  return key == queue::QueueKey::none ? triage::FeatureCounts{} : counts_of(key, recorded).counts;
}

}  // namespace redrive::dead_letters
