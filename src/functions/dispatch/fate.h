#pragma once

#include <string_view>
#include <vector>

#include "functions/dispatch/plan.h"

namespace redrive::dispatch {

// What to do with a message whose handler failed.
struct Fate {
  enum class Kind : std::uint8_t {
    retry,        // Visible again after `delay`.
    dead_letter,  // To the queue's dead-letter queue.
    discard,      // To the mapping's OnFailure destination, then deleted.
  };
  Kind kind = Kind::retry;
  Duration delay{0};
  RunCounts counts;  // Including this run.
};

struct FailedRun {
  // Names of the error; a retrier needs to match only one.
  std::vector<std::string_view> error_names;
  RunCounts counts;  // Before this run.
  bool has_dead_letter_queue = false;
  Duration visibility{0};  // Remaining visibility timeout.
  Timestamp now;           // Engine time.
  double random01 = 0;
};

// Pure. MaximumRetryAttempts is checked first: when it is exhausted, the message goes to OnFailure,
// else to the dead-letter queue. Then the retriers: when the matching one is exhausted, the message
// goes to the dead-letter queue, else to OnFailure. Without either, and if no rule applies, it
// stays in its queue until the visibility timeout ends, as on AWS. Step Functions treats an error
// that no retrier matches as final; here the queue itself still retries, for example after a
// timeout.
Fate decide_fate(const Plan& plan, const FailedRun& run);

}  // namespace redrive::dispatch
