#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "observe/metrics/histogram.h"

namespace redrive::http {

// Owns a file descriptor and its epoll registration.
//
// close() alone does not end the registration: a forked child holds copies of all descriptors until
// it execs, and as long as a copy exists epoll keeps reporting events. So close() deregisters
// first.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)), epoll_(std::exchange(other.epoll_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(epoll_, other.epoll_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close();

 private:
  friend class Poller;
  int number_;
  int epoll_ = -1;  // The epoll it is registered with; -1: none.
};

// Descriptors, timers and posted tasks of one thread, over epoll.
//
// A descriptor is registered once, for all events, edge-triggered: while requests and responses fit
// in one read and one write, waiting for the next request needs no system call of its own. A
// watcher has to remember whether there is input left to read.
//
// All members are for the thread that calls run_once, except those documented as thread-safe.
class Poller {
 public:
  using Clock = std::chrono::steady_clock;

  class Watcher {
   public:
    // `events` are epoll's. May still be called in the pass in which the descriptor was closed, so
    // free a watcher with a task posted after closing.
    virtual void on_events(std::uint32_t events) = 0;

   protected:
    ~Watcher() = default;
  };

  // Calls a function once, when it is due. Must not outlive the poller.
  class Timer {
   public:
    Timer(Poller& poller, std::function<void()> work);
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    // Replaces the previous due time.
    void set(Clock::time_point due) { due_ = due; }
    void cancel() { due_ = kNever; }

   private:
    friend class Poller;
    Poller& poller_;
    const std::function<void()> work_;
    Clock::time_point due_ = kNever;
  };

  Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Watches until the descriptor is closed. Returns false if out of memory.
  bool watch(Descriptor& descriptor, Watcher& watcher);

  enum class Wait { none, allowed };
  // One pass: dispatches events, calls due timers, runs posted tasks. With Wait::allowed it sleeps
  // until there is something to do or wake() is called. Returns true if there was something to do
  // besides timers.
  bool run_once(Wait wait);

  // Records the duration of each pass in microseconds: from the return of one wait for events until
  // the next wait begins. Call before the first run_once; needs no extra clock reading.
  void measure(metrics::Histogram& passes) { passes_ = &passes; }
  // When the last wait for events returned.
  Clock::time_point now() const { return now_; }
  // When the last pass ended; valid only with measure().
  Clock::time_point pass_ended() const { return pass_ended_; }

  // Sleeps for `time` or until wake(), ignoring descriptors: for batching events when more are
  // expected soon.
  void nap(std::chrono::microseconds time);

  // Thread-safe. The task runs on the poller's thread, in the order of posting, and never inside
  // this call.
  void post(std::function<void()> task);
  bool has_tasks() const;
  // Thread-safe. Ends the current sleep, or makes the next one return at once.
  void wake();

 private:
  static constexpr Clock::time_point kNever = Clock::time_point::max();
  static constexpr int kEventsMax = 256;

  int sleep_ms(Wait wait);
  void note_pass(Clock::time_point ended);
  bool dispatch_events(int timeout_ms);
  void call_timers();
  bool run_tasks();

  Descriptor epoll_;
  Descriptor wake_event_;
  std::vector<Timer*> timers_;
  metrics::Histogram* passes_ = nullptr;
  Clock::time_point pass_ended_{};
  Clock::time_point now_;                       // When the last wait for events returned.
  Clock::time_point pass_began_ = kNever;       // kNever: its end has been recorded.
  std::vector<std::function<void()>> running_;  // Tasks being run; kept to reuse its capacity.

  mutable Mutex mutex_;
  std::vector<std::function<void()>> tasks_ GUARDED_BY(mutex_);

  // Sequentially consistent handshake: wake() sets `woken_` and then checks `sleeping_`; the thread
  // sets `sleeping_` and then checks `woken_`.
  std::atomic<bool> woken_ = false;
  std::atomic<bool> sleeping_ = false;
};

}  // namespace redrive::http
