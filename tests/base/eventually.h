#pragma once

#include <chrono>
#include <thread>

namespace redrive {

// Waits until a condition is true that another thread or a process fulfils. False: it is still
// false after a time that is long enough for any machine, so that a test fails instead of hanging.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition,
                              std::chrono::seconds patience = std::chrono::seconds(30)) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

}  // namespace redrive
