#pragma once

#include <functional>

#include "base/ids.h"
#include "base/time.h"

namespace redrive {

// Exponential backoff with jitter: each pause is picked at random from the upper half of its
// interval, which doubles every time, so that many clients do not retry in step.
class Backoff {
 public:
  static constexpr int kAttemptsMax = 6;
  static constexpr Duration kFirst{100};
  static constexpr Duration kLongest{5'000};

  Backoff(IdSource& ids, std::function<void(Duration)> sleep);

  // Sleeps and returns true, or returns false if the attempts are used up.
  bool again();
  // Whether the next again() will return false.
  bool spent() const { return attempts_ >= kAttemptsMax; }
  // Call after a success: the next failure starts with the shortest pause.
  void reset() { attempts_ = 1; }

 private:
  IdSource& ids_;
  std::function<void(Duration)> sleep_;
  int attempts_ = 1;
};

}  // namespace redrive
