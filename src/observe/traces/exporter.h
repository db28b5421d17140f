#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "observe/traces/span.h"

namespace redrive::traces {

// Sends spans to a collector in batches, on its own thread. Never blocks callers: spans that do not
// fit, or that the collector refuses, are dropped and counted.
class Exporter {
 public:
  struct Options {
    std::string endpoint;           // http://host:4318; /v1/traces is appended.
    std::size_t spans_max = 8'192;  // Maximum number waiting.
    std::size_t batch_max = 512;
    std::chrono::milliseconds pause{1'000};  // Between batches that are not full.
    std::chrono::milliseconds timeout{5'000};
    // Called when the collector becomes unreachable, and when it is back.
    std::function<void(std::string)> log;
  };
  explicit Exporter(Options options);
  ~Exporter();  // Sends what is left, in one attempt.
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  // Thread-safe; does not block for long.
  void add(Span span);
  // For spans that are expensive to build: `make` runs on the exporter's thread.
  void add_later(std::function<void(Exporter&)> make);

  std::uint64_t sent() const { return sent_.load(); }
  std::uint64_t dropped() const { return dropped_.load(); }

 private:
  void run();
  void send(const std::vector<Span>& spans);
  void note(bool reached, const std::string& why);
  template <class T>
  void push(std::deque<T>& queue, T value) REQUIRES(mutex_);

  const Options options_;
  std::atomic<std::uint64_t> sent_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
  bool away_ = false;  // Used by the exporter's thread only.
  Mutex mutex_;
  ConditionVariable wake_;
  std::deque<Span> spans_ GUARDED_BY(mutex_);
  std::deque<std::function<void(Exporter&)>> later_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace redrive::traces
