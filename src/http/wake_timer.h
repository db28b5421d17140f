#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "http/asio.h"

namespace redrive::http {

// One function to be called at one time; setting it again replaces both. Lives on one loop's
// thread.
//
// It is set far more often than it fires, and mostly to a later time. The timer below is therefore
// moved only to an earlier time; when it fires too early it is set for what remains.
class WakeTimer {
 public:
  explicit WakeTimer(asio::io_context& context) : timer_(context) {}

  void set(std::chrono::milliseconds delay, std::function<void()> work) {
    if (closed_) return;
    work_ = std::move(work);
    due_ = Clock::now() + delay;
    if (!armed_ || due_ < armed_for_) arm();
  }
  // For good: a loop that is to end must not wait for what is set from now on.
  void close() {
    closed_ = true;
    work_ = nullptr;
    timer_.cancel();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void arm() {
    armed_ = true;
    armed_for_ = due_;
    timer_.expires_at(due_);
    timer_.async_wait([this](const error_code& error) {
      if (!error) fire();
    });
  }
  void fire() {
    armed_ = false;
    if (!work_) return;
    if (Clock::now() < due_) return arm();
    std::exchange(work_, nullptr)();
  }

  SteadyTimer timer_;
  std::function<void()> work_;
  Clock::time_point due_;
  Clock::time_point armed_for_;
  bool armed_ = false;
  bool closed_ = false;
};

}  // namespace redrive::http
