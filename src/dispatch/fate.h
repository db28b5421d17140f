#pragma once

#include <string_view>

#include "dispatch/plan.h"

namespace redrive::dispatch {

// What is done with a message whose handler failed.
struct Fate {
  enum class Kind : std::uint8_t {
    retry,        // Visible again after `delay`.
    dead_letter,  // To the queue's dead-letter queue.
    discard,      // To the mapping's OnFailure destination, and out of the queue.
  };
  Kind kind = Kind::retry;
  Duration delay{0};
  RunCounts counts;  // As they are now.
};

struct FailedRun {
  std::string_view error_name;
  RunCounts counts;  // Before this run.
  bool has_dead_letter_queue = false;
  Duration visibility{0};  // What is left of the time the message was received for.
  Timestamp now;           // Engine time.
  double random01 = 0;
};

// Pure. MaximumRetryAttempts comes first: when it is used up the message goes to OnFailure, else to
// the dead-letter queue. Then the retriers: where they end, or name no such error, it goes to the
// dead-letter queue, else to OnFailure. What has neither stays in its queue, and so does
// everything under a mapping without such rules, until the visibility timeout is over: as on AWS.
Fate decide_fate(const Plan& plan, const FailedRun& run);

}  // namespace redrive::dispatch
