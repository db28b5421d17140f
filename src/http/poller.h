#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "metrics/histogram.h"

namespace redrive::http {

// Owns a file descriptor, and with it its place in an epoll.
//
// Closing is not enough to be left in peace: a process that is just being made has copies of all
// our descriptors until its program begins, and as long as there is one the kernel goes on telling.
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
  int epoll_ = -1;  // That watches it.
};

// The descriptors, timers and errands of one thread, over epoll.
//
// A descriptor is registered once, for everything and by edges: as long as a request comes and its
// answer leaves whole, waiting for the next one takes no system call of its own. Whoever watches
// remembers for itself what is left to read.
//
// All members are for the thread that calls run_once, except those said to be callable from any.
class Poller {
 public:
  using Clock = std::chrono::steady_clock;

  class Watcher {
   public:
    // `events` as epoll has them. May be called once more in the round in which the descriptor was
    // closed: a watcher is freed by an errand posted after that.
    virtual void on_events(std::uint32_t events) = 0;

   protected:
    ~Watcher() = default;
  };

  // Calls a function once when its time has come. Must not outlive the poller.
  class Timer {
   public:
    Timer(Poller& poller, std::function<void()> work);
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    // Replaces the time set before.
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

  // Until the descriptor is closed. False without memory for it.
  bool watch(Descriptor& descriptor, Watcher& watcher);

  enum class Wait { none, allowed };
  // One round: tells watchers what has happened, calls timers that are due, runs errands. With
  // Wait::allowed it sleeps until there is something to do or wake() is called. True when there
  // was something to do besides timers.
  bool run_once(Wait wait);

  // Where to record, in microseconds, how long each pass took: from the return of a wait for events
  // until the next wait begins. Before the first run_once; costs no reading of the clock.
  void measure(metrics::Histogram& passes) { passes_ = &passes; }
  // When the last wait for events returned.
  Clock::time_point now() const { return now_; }
  // When the last pass ended, if passes are measured.
  Clock::time_point pass_ended() const { return pass_ended_; }

  // Sleeps for so long, or until somebody calls wake(), whatever happens to descriptors: for those
  // who know that more of it will have happened by then.
  void nap(std::chrono::microseconds time);

  // From any thread: the errand runs on the poller's, in the order of posting, and never inside
  // this call.
  void post(std::function<void()> errand);
  bool has_errands() const;
  // From any thread: the next sleep, or the present one, ends at once.
  void wake();

 private:
  static constexpr Clock::time_point kNever = Clock::time_point::max();
  static constexpr int kEventsMax = 256;

  int sleep_ms(Wait wait);
  void note_pass(Clock::time_point ended);
  bool tell_watchers(int timeout_ms);
  void call_timers();
  bool run_errands();

  Descriptor epoll_;
  Descriptor wake_event_;
  std::vector<Timer*> timers_;
  metrics::Histogram* passes_ = nullptr;
  Clock::time_point pass_ended_{};
  Clock::time_point now_;                       // When the last wait for events returned.
  Clock::time_point pass_began_ = kNever;       // kNever: its end is recorded.
  std::vector<std::function<void()>> running_;  // Errands being run; kept for its memory.

  mutable std::mutex mutex_;
  std::vector<std::function<void()>> errands_;  // Guarded by mutex_.

  // A handshake, both sequentially consistent: who wakes sets `woken_` and then looks whether the
  // thread sleeps; the thread says that it sleeps and then looks whether it was woken.
  std::atomic<bool> woken_ = false;
  std::atomic<bool> sleeping_ = false;
};

}  // namespace redrive::http
