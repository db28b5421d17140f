#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "core/queue/ids.h"
#include "core/queue/state.h"
#include "core/store/store.h"

namespace redrive::engine {

// A processed message whose bytes are to be read, and its delivery.
struct ProcessedSample {
  queue::QueueKey queue;
  queue::BodyRef body;  // Pinned; unpinned by the reader.
  queue::NameIndex consumer = queue::NameIndex::none;
  Timestamp first_attempt;  // Wall time; zero: not known.
};

// Chooses some of the messages that consumers delete, so that they can be compared with dead
// letters. On the path of every deletion; in turn.
class ProcessedSamples {
 public:
  // To be called before the deletion is recorded.
  void add(store::Store& store, const queue::Queue& queue, queue::Slot slot);
  std::vector<ProcessedSample> take() { return std::exchange(samples_, {}); }
  bool has_seen(queue::QueueKey queue) const { return seen_.contains(queue); }
  void forget(queue::QueueKey queue) { seen_.erase(queue); }

 private:
  std::unordered_map<queue::QueueKey, std::uint64_t> seen_;
  std::vector<ProcessedSample> samples_;  // Bounded: further samples are dropped.
};

}  // namespace redrive::engine
