#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.h"
#include "dead_letter/features.h"
#include "queue/ids.h"

namespace redrive::engine {

// Processed messages whose bytes are to be looked at, pinned. Bounded: what is too much is left
// out.
using ProcessedSamples = std::vector<std::pair<queue::QueueKey, queue::BodyRef>>;

// What a queue's processed messages were like.
struct ProcessedCounts {
  dead_letter::FeatureCounts counts;
  Timestamp recorded_at;  // When the journal last got it.
  bool changed = false;   // Since then.
};

}  // namespace redrive::engine
