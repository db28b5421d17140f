#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "dead_letter/features.h"
#include "queue/ids.h"

namespace redrive::engine {

// A processed message whose bytes are to be read, and what memory knew of its delivery.
struct ProcessedSample {
  queue::QueueKey queue;
  queue::BodyRef body;  // Pinned.
  queue::NameIndex consumer = queue::NameIndex::none;
  Timestamp first_attempt;  // Wall time; zero: not known.
};

// Bounded: samples beyond the limit are dropped.
using ProcessedSamples = std::vector<ProcessedSample>;

// What a queue's processed messages were like.
struct ProcessedCounts {
  dead_letter::FeatureCounts counts;
  Timestamp recorded_at;  // When it was last written to the journal.
  Duration interval{};    // Until it may be written again.
  bool changed = false;   // Since then.
};

}  // namespace redrive::engine
