#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "alarms/target.h"
#include "base/workers.h"
#include "engine/engine.h"

namespace redrive::alarms {

// Brings notices to their targets, on threads of its own: whoever hangs holds up nobody else, and
// whoever fails is tried again, at longer and longer distances, until it is given up and said so in
// the log. A later notice of the same alarm for the same target takes the place of one that still
// waits, so that nobody is told yesterday's state after today's.
class Courier {
 public:
  struct Parts {
    engine::Engine& engine;
    // Invokes a function by its ARN, asynchronously; empty: there are none.
    std::function<Result<void>(const std::string& arn, const std::string& payload)> invoke;
    // For webhooks that clients named.
    http::OutgoingPolicyPtr outgoing = std::make_shared<http::OutgoingPolicy>();
    std::string ca_file = {};           // See OutgoingRules.
    std::function<void()> sync_wanted;  // Something was recorded.
    std::function<void(std::string)> log;
    std::vector<std::chrono::milliseconds> pauses = default_pauses();
    std::chrono::milliseconds timeout{10'000};
  };
  static std::vector<std::chrono::milliseconds> default_pauses();

  explicit Courier(Parts parts) : parts_(std::move(parts)) {}
  ~Courier() { stop(); }  // What has not been brought by now is not brought.
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  // Ends its threads; what comes later is not brought.
  void stop() { workers_.stop(); }
  void send(Target target, Notice notice);
  // What came of the last notice for a target.
  struct Outcome {
    std::string notice;  // Its title.
    bool waiting = false;
    std::string error;  // Of the last attempt; empty: none, or it arrived.
  };
  std::map<std::string, Outcome> outcomes() const;  // By target, secrets in it masked.
  // Until nothing waits or the time is up; whether nothing does.
  bool wait_idle(std::chrono::milliseconds time);

 private:
  struct Errand {
    std::uint64_t number;
    Target target;
    Notice notice;
    std::size_t attempts = 0;
    bool under_way = false;
  };

  static constexpr std::size_t kThreads = 4;
  static constexpr std::size_t kErrandsMax = 1'000;
  static constexpr std::size_t kOutcomesMax = 200;

  void attempt(std::uint64_t number);
  Result<void> deliver(const Target& target, const Notice& notice) const;
  void note_outcome(const Errand& errand, bool waiting, std::string error);
  void finish(std::list<Errand>::iterator errand, const Result<void>& done);
  Result<void> send_to_queue(const std::string& arn, const Notice& notice) const;

  Parts parts_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::list<Errand> errands_;  // Guarded by mutex_, like the next two.
  std::map<std::string, Outcome> outcomes_;
  std::uint64_t last_ = 0;
  Workers workers_{kThreads};
};

}  // namespace redrive::alarms
