#include "core/engine/processed_samples.h"

namespace redrive::engine {
namespace {

constexpr std::size_t kSamplesWaitingMax = 512;
// Once there are enough samples, one of this many messages is sampled.
constexpr std::uint64_t kSampleEvery = 64;
constexpr std::uint64_t kSampledAll = 1'000;

}  // namespace

void ProcessedSamples::add(store::Store& store, const queue::Queue& queue, queue::Slot slot) {
  std::uint64_t& seen = seen_[queue.key];
  if (++seen > kSampledAll && seen % kSampleEvery != 0) return;
  if (samples_.size() >= kSamplesWaitingMax) return;
  const queue::MessageTable& messages = store.state().messages();
  const queue::BodyRef& body = messages[slot].body;
  store.pin(body);
  ProcessedSample sample{.queue = queue.key, .body = body};
  const queue::History* history = messages.history_if(slot);
  if (history != nullptr && !history->attempts.empty()) {
    sample.consumer = history->attempts.back().by;
    sample.first_attempt = history->attempts.front().received_wall;
  }
  samples_.push_back(sample);
}

}  // namespace redrive::engine
