// What processed messages were like: the other half of "what sets the dead apart".

#include "engine/engine.h"
#include "engine/stored_view.h"

namespace redrive::engine {
namespace {

constexpr std::size_t kSamplesWaitingMax = 512;
// Every so many messages one is looked at, once there are enough to tell.
constexpr std::uint64_t kSampleEvery = 64;
constexpr std::uint64_t kSampledAll = 1'000;
// A queue's counts are at most this old in the journal.
constexpr Duration kRecordInterval{10'000};

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
  samples_.emplace_back(queue.key, body);
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
  turn([&](Turn& turn) {
    samples.swap(samples_);
    for (const queue::QueueKey gone : queues_gone_) {
      processed_.erase(gone);
      processed_seen_.erase(gone);
    }
    queues_gone_.clear();
    for (const auto& [key, body] : samples) {
      const queue::Queue* queue = turn.state().find(key);
      if (queue != nullptr && !processed_.contains(key)) recorded[key] = queue->processed;
    }
  });
  std::string bytes;
  for (const auto& [key, body] : samples) {
    ProcessedCounts& counts = processed_counts(key, recorded[key]);
    bytes.resize(body.size);
    const bool read = store_.read(body, bytes.data()).has_value();
    const auto stored = read ? store::decode_message(bytes) : std::nullopt;
    store_.unpin(body);
    if (!stored) continue;
    const StoredView view(*stored);
    counts.counts.add(view.features());
    counts.changed = true;
  }
  record_processed();
}

void Engine::record_processed() {
  for (auto& [key, counts] : processed_) {
    if (!counts.changed || now() < counts.recorded_at + kRecordInterval) continue;
    const std::string text = counts.counts.encode();
    turn([&](Turn& turn) {
      if (turn.state().find(key) != nullptr) turn.commit(queue::ProcessedCounted{key, text});
      counts.recorded_at = turn.stamp().now;
    });
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

Result<dead_letter::FeatureCounts> Engine::dead_features(const queue::QueueIdentity& identity,
                                                         queue::FailureGroupKey group) {
  std::vector<std::pair<queue::MessageKey, queue::BodyRef>> samples;
  BodyPins pins(store_);
  CHECK(turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::State& state = turn.state();
    std::vector<queue::Slot> slots;
    if (group == queue::FailureGroupKey::none) {
      slots = state.mailbox(queue).page({}, queue::kGroupSamples);
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
      samples.emplace_back(state.messages()[slot].key, state.messages()[slot].body);
      pins.add(samples.back().second);
    }
    return {};
  }));
  dead_letter::FeatureCounts counts;
  std::string bytes;
  for (const auto& [key, body] : samples) {
    if (const auto stored = read_message(key, body, bytes)) {
      counts.add(StoredView(*stored).features());
    }
  }
  return counts;
}

}  // namespace redrive::engine
