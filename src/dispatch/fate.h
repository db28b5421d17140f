#pragma once

#include <string_view>
#include <vector>

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
  // What the error may be called; one name is enough for a retrier.
  std::vector<std::string_view> error_names;
  RunCounts counts;  // Before this run.
  bool has_dead_letter_queue = false;
  Duration visibility{0};  // What is left of the time the message was received for.
  Timestamp now;           // Engine time.
  double random01 = 0;
};

// Pure. MaximumRetryAttempts comes first: when it is used up the message goes to OnFailure, else to
// the dead-letter queue. Then the retriers: when the one that names the error is used up, it goes
// to the dead-letter queue, else to OnFailure. What has neither stays in its queue until the
// visibility timeout is over, and so does everything that no rule speaks of: as on AWS. Step
// Functions would call an error that no retrier names final; but there a timeout, say, has nobody
// else to try it again, and here it has the queue.
Fate decide_fate(const Plan& plan, const FailedRun& run);

}  // namespace redrive::dispatch
