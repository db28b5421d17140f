#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "base/mutex.h"

namespace redrive::dispatch {

// Runs tasks one after another, so tasks need no locks of their own.
//
// Real time only: timers for messages use the engine's clock (engine::Engine::call_at).
class Strand {
 public:
  using Work = std::function<void()>;
  using Clock = std::chrono::steady_clock;

  enum class Mode {
    thread,  // In its own thread.
    manual,  // In drain(), for tests.
  };
  // `round_ended` is called whenever the strand becomes idle.
  Strand(Mode mode, Work round_ended);
  ~Strand();
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  // Thread-safe. Ignored after stop().
  void post(Work work);
  // For work that can wait briefly to be batched: a sleeping thread is woken once for several
  // tasks.
  void post_lazily(Work work);
  void after(std::chrono::milliseconds delay, Work work);
  // Lets the current task finish and drops the others. Not callable from the strand itself.
  void stop();
  // Stops after `wait` returns, which waits for the last work to be done. A manual strand runs
  // pending work instead of waiting.
  void finish(const Work& wait);

  // Manual mode: runs everything that is due, and what it posts.
  void drain();
  // The same while `time` passes.
  void pass(std::chrono::milliseconds time);

 private:
  void run();
  Clock::time_point now() const REQUIRES(mutex_);
  // Whether all pending work may wait to be batched.
  bool is_patient() REQUIRES(mutex_);
  // Takes the next task; empty if none is due.
  Work next() REQUIRES(mutex_);

  const Mode mode_;
  const Work round_ended_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Work> ready_ GUARDED_BY(mutex_);
  std::multimap<Clock::time_point, Work> later_ GUARDED_BY(mutex_);
  Clock::time_point manual_now_ GUARDED_BY(mutex_){};
  std::optional<Clock::time_point> patience_
      GUARDED_BY(mutex_);  // Nothing needs to run before then.
  bool working_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace redrive::dispatch
