#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "bench/nanos.h"

namespace redrive::bench {

// A time in which a CPU did not run although a real-time thread on it was due.
struct Pause {
  Nanos begin;
  Nanos end;
};

// How much of [begin, end) is outside the pauses, which may overlap and are unordered.
Nanos time_outside(Nanos begin, Nanos end, std::vector<Pause> pauses);

// Watches each CPU with a real-time thread that sleeps for short times. A virtual machine stands
// still while its host runs others; what a client measures during that time says nothing about the
// server. Without permission for real-time priority, pauses include the machine's own load.
class PauseWatch {
 public:
  PauseWatch();
  ~PauseWatch() { stop(); }

  // Ends the watch and returns all pauses of at least kPauseMin.
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
