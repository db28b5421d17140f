#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "traces/span.h"

namespace redrive::traces {

// Sends spans to a collector, on a thread of its own and many at a time. Nobody waits for it: what
// does not fit, and what the collector does not take, is dropped and counted.
class Exporter {
 public:
  struct Options {
    std::string endpoint;           // http://host:4318; /v1/traces is added to it.
    std::size_t spans_max = 8'192;  // That wait.
    std::size_t batch_max = 512;
    std::chrono::milliseconds pause{1'000};  // Between two batches that are not full.
    std::chrono::milliseconds timeout{5'000};
    // Told when the collector goes away, and when it is back.
    std::function<void(std::string)> log;
  };
  explicit Exporter(Options options);
  ~Exporter();  // Sends what is left, if the collector takes it at once.
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  // From any thread; never blocks for long.
  void add(Span span);
  // The same, for spans that take work to make: done on the exporter's thread.
  void add_later(std::function<void(Exporter&)> make);

  std::uint64_t sent() const { return sent_.load(); }
  std::uint64_t dropped() const { return dropped_.load(); }

 private:
  void run();
  void send(const std::vector<Span>& spans);
  void note(bool reached, const std::string& why);
  template <class T>
  void push(std::deque<T>& queue, T value);

  const Options options_;
  std::atomic<std::uint64_t> sent_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
  bool away_ = false;  // Of the exporter's thread.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Span> spans_;  // Guarded by mutex_, like the next two.
  std::deque<std::function<void(Exporter&)>> later_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace redrive::traces
