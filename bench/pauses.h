#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "bench/nanos.h"

namespace redrive::bench {

// A time in which a processor did not run although a real-time thread on it was due.
struct Pause {
  Nanos begin;
  Nanos end;
};

// How much of [begin, end) lies in none of the pauses, which may overlap and come in any order.
Nanos time_outside(Nanos begin, Nanos end, std::vector<Pause> pauses);

// Watches each processor with a real-time thread that sleeps for short times. A virtual machine
// stands still while its host runs others; what a client measures in such a time says nothing of
// the server. Without the right to real-time priority, pauses include the machine's own load.
class PauseWatch {
 public:
  PauseWatch();
  ~PauseWatch() { stop(); }

  // Ends the watch. All pauses of at least kPauseMin.
  std::vector<Pause> stop();

 private:
  static constexpr Nanos kPauseMin = std::chrono::milliseconds(1);
  static constexpr Nanos kSleep = std::chrono::microseconds(500);

  void watch(unsigned processor, std::vector<Pause>& pauses) const;

  std::atomic<bool> ended_ = false;
  std::vector<std::vector<Pause>> found_;  // By processor.
  std::vector<std::thread> threads_;
};

}  // namespace redrive::bench
