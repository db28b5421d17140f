// What processed messages were like: the other half of "what sets the dead apart".

#include <algorithm>
#include <set>

#include "engine/engine.h"
#include "engine/stored_view.h"

namespace redrive::engine {
namespace {

constexpr std::size_t kSamplesWaitingMax = 512;
// Every so many messages one is looked at, once there are enough to tell.
constexpr std::uint64_t kSampleEvery = 64;
constexpr std::uint64_t kSampledAll = 1'000;
// How long a queue's counts are changed in memory only: ten seconds, or a second for each KiB, so
// that a queue adds at most 1 KiB a second to the journal.
constexpr Duration kRecordInterval{10'000};
constexpr std::size_t kRecordedBytesPerSecond = 1024;

Duration record_interval(std::size_t bytes) {
  return std::max<Duration>(kRecordInterval, std::chrono::seconds(bytes / kRecordedBytesPerSecond));
}

}  // namespace

// In turn, before the deletion is recorded.
void Engine::sample_processed(const queue::Queue& queue, queue::MessageKey key) {
  std::uint64_t& seen = processed_seen_[queue.key];
  if (++seen > kSampledAll && seen % kSampleEvery != 0) return;
  if (samples_.size() >= kSamplesWaitingMax) return;
  const queue::Slot slot = store_.state().find_message(queue, key);
  if (slot == queue::kNoSlot) return;
  const queue::BodyRef& body = store_.state().messages()[slot].body;
  store_.pin(body);
  ProcessedSample sample{.queue = queue.key, .body = body};
  const queue::History* history = store_.state().messages().history_if(slot);
  if (history != nullptr && !history->attempts.empty()) {
    sample.consumer = history->attempts.back().by;
    sample.first_attempt = history->attempts.front().received_wall;
  }
  samples_.push_back(sample);
}

ProcessedCounts& Engine::processed_counts(queue::QueueKey key, const std::string& recorded) {
  const auto [at, fresh] = processed_.try_emplace(key);
  if (fresh && !recorded.empty()) {
    if (auto counts = dead_letter::FeatureCounts::decode(recorded)) {
      at->second.counts = std::move(*counts);
    }
  }
  return at->second;
}

void Engine::count_processed() {
  std::lock_guard order(processed_mutex_);
  ProcessedSamples samples;
  std::map<queue::QueueKey, std::string> recorded;
  std::map<queue::NameIndex, std::string> consumers;
  turn([&](Turn& turn) {
    samples.swap(samples_);
    for (const queue::QueueKey gone : queues_gone_) {
      processed_.erase(gone);
      processed_seen_.erase(gone);
    }
    queues_gone_.clear();
    for (const ProcessedSample& sample : samples) {
      const queue::Queue* queue = turn.state().find(sample.queue);
      if (queue != nullptr && !processed_.contains(sample.queue)) {
        recorded[sample.queue] = queue->processed;
      }
      if (sample.consumer == queue::NameIndex::none) continue;
      const auto [at, fresh] = consumers.try_emplace(sample.consumer);
      if (fresh) at->second = turn.state().name(sample.consumer);
    }
  });
  std::string bytes;
  for (const ProcessedSample& sample : samples) {
    ProcessedCounts& counts = processed_counts(sample.queue, recorded[sample.queue]);
    bytes.resize(sample.body.size);
    const bool read = store_.read(sample.body, bytes.data()).has_value();
    const auto stored = read ? store::decode_message(bytes) : std::nullopt;
    store_.unpin(sample.body);
    if (!stored) continue;
    StoredView view(*stored);
    const auto consumer = consumers.find(sample.consumer);
    counts.counts.add(view.features(
        {.consumer = consumer == consumers.end() ? std::string_view() : consumer->second,
         .first_attempt = sample.first_attempt}));
    counts.changed = true;
  }
  record_processed();
}

void Engine::record_processed() {
  for (auto& [key, counts] : processed_) {
    if (!counts.changed || now() < counts.recorded_at + counts.interval) continue;
    const std::string text = counts.counts.encode();
    turn([&](Turn& turn) {
      if (turn.state().find(key) != nullptr) turn.commit(queue::ProcessedCounted{key, text});
      counts.recorded_at = turn.stamp().now;
    });
    counts.interval = record_interval(text.size());
    counts.changed = false;
  }
}

dead_letter::FeatureCounts Engine::processed(const queue::QueueIdentity& identity) {
  count_processed();
  std::lock_guard order(processed_mutex_);
  queue::QueueKey key = queue::QueueKey::none;
  std::string recorded;
  turn([&](Turn& turn) {
    if (const queue::Queue* queue = turn.state().find(identity)) {
      key = queue->key;
      recorded = queue->processed;
    }
  });
  return key == queue::QueueKey::none ? dead_letter::FeatureCounts{}
                                      : processed_counts(key, recorded).counts;
}

namespace {

// A dead letter to be read outside the turn.
struct DeadSample {
  queue::MessageKey key;
  queue::BodyRef body;
  std::string consumer;
  Timestamp first_attempt;
};

DeadSample dead_sample_at(const queue::State& state, queue::Slot slot) {
  DeadSample sample{.key = state.messages()[slot].key, .body = state.messages()[slot].body};
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr || history->attempts.empty()) return sample;
  const queue::Attempt& last = history->attempts.back();
  if (last.by != queue::NameIndex::none) sample.consumer = state.name(last.by);
  sample.first_attempt = history->attempts.front().received_wall;
  return sample;
}

// Up to kGroupSamples messages of a queue: all, or some from each eighth of the time since the
// oldest was sent, filled up with the oldest.
std::vector<queue::Slot> spread_over_time(const queue::Mailbox& mailbox, Timestamp now) {
  std::vector<queue::Slot> oldest = mailbox.page({}, queue::kGroupSamples);
  if (oldest.size() < queue::kGroupSamples) return oldest;
  constexpr int kParts = 8;
  const Timestamp begin = mailbox.age_of(oldest.front()).sent_at;
  const Duration part = (now - begin) / kParts;
  std::vector<queue::Slot> slots;
  std::set<queue::Slot> taken;
  const auto take = [&](const std::vector<queue::Slot>& some) {
    for (const queue::Slot slot : some) {
      if (slots.size() < queue::kGroupSamples && taken.insert(slot).second) slots.push_back(slot);
    }
  };
  for (int i = 0; i < kParts; ++i) {
    take(mailbox.page({.sent_at = begin + part * i}, queue::kGroupSamples / kParts));
  }
  take(oldest);
  return slots;
}

}  // namespace

Result<dead_letter::FeatureCounts> Engine::dead_features(const queue::QueueIdentity& identity,
                                                         queue::FailureGroupKey group) {
  std::vector<DeadSample> samples;
  BodyPins pins(store_);
  CHECK(turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::State& state = turn.state();
    std::vector<queue::Slot> slots;
    if (group == queue::FailureGroupKey::none) {
      slots = spread_over_time(state.mailbox(queue), turn.stamp().now);
    } else if (const queue::FailureGroup* known = state.find_group(group)) {
      for (const queue::MessageKey key : known->samples) {
        const queue::Slot slot = state.find_message(queue, key);
        const queue::History* history =
            slot == queue::kNoSlot ? nullptr : state.messages().history_if(slot);
        if (history != nullptr && history->group == group) slots.push_back(slot);
      }
    }
    prefer_judged_alone(state, slots);
    for (const queue::Slot slot : slots) {
      samples.push_back(dead_sample_at(state, slot));
      pins.add(samples.back().body);
    }
    return {};
  }));
  auto counts = dead_letter::FeatureCounts::with_names();
  std::string bytes;
  for (const DeadSample& sample : samples) {
    if (const auto stored = read_message(sample.key, sample.body, bytes)) {
      counts.add(StoredView(*stored).features(
          {.consumer = sample.consumer, .first_attempt = sample.first_attempt}));
    }
  }
  return counts;
}

}  // namespace redrive::engine
