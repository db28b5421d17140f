#pragma once

#include <functional>

#include "base/ids.h"
#include "base/time.h"

namespace redrive {

// The pauses between attempts: each may be twice as long as the one before, and chance picks a
// point in its upper half, so that many clients do not come back in step.
class Backoff {
 public:
  static constexpr int kAttemptsMax = 6;
  static constexpr Duration kFirst{100};
  static constexpr Duration kLongest{5'000};

  Backoff(IdSource& ids, std::function<void(Duration)> sleep);

  // Sleeps and grants another attempt, or says that there have been enough.
  bool again();
  // Whether the next again() will say no.
  bool spent() const { return attempts_ >= kAttemptsMax; }
  // Something went well: the next trouble starts small.
  void reset() { attempts_ = 1; }

 private:
  IdSource& ids_;
  std::function<void(Duration)> sleep_;
  int attempts_ = 1;
};

}  // namespace redrive
