#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace redrive::dispatch {

// Does one thing after another. Whatever runs here needs no locks of its own.
//
// Real time only: what concerns messages waits by the engine's clock (engine::Engine::call_at).
class Strand {
 public:
  using Work = std::function<void()>;
  using Clock = std::chrono::steady_clock;

  enum class Mode {
    thread,  // In a thread of its own.
    manual,  // When drain() is called: tests.
  };
  // `round_ended` is called whenever there is nothing more to do for now.
  Strand(Mode mode, Work round_ended);
  ~Strand();
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  // From any thread. After stop() it is forgotten.
  void post(Work work);
  // The same for what can wait a moment for company: a sleeping thread is woken once for several.
  void post_lazily(Work work);
  void after(std::chrono::milliseconds delay, Work work);
  // What has begun ends; nothing else is done any more. Not from the strand itself.
  void stop();
  // The same after `wait` has returned, in which somebody waits for the last work to be done. A
  // manual one does what there is instead of waiting.
  void finish(const Work& wait);

  // Manual: everything that is to be done now, and what follows from it.
  void drain();
  // The same while so much real time passes.
  void pass(std::chrono::milliseconds time);

 private:
  void run();
  Clock::time_point now() const;
  // Whether there is only work that waits for company.
  bool is_patient();
  // Takes the next piece of work; empty when there is none yet.
  Work next();

  const Mode mode_;
  const Work round_ended_;
  std::mutex mutex_;  // Guards everything below.
  std::condition_variable changed_;
  std::deque<Work> ready_;
  std::multimap<Clock::time_point, Work> later_;
  Clock::time_point manual_now_{};
  std::optional<Clock::time_point> patience_;  // Until then nothing has to be done.
  bool working_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace redrive::dispatch
