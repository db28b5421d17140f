#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/workers.h"
#include "core/engine/engine.h"
#include "observe/alarms/delivery.h"
#include "observe/alarms/history.h"
#include "observe/alarms/target.h"

namespace redrive::alarms {

// Delivers notices to their targets on its own threads, so that a target that hangs delays neither
// messages nor, for long, other targets.
//
// Every notice is in the journal before it is attempted, and the outcome of each attempt after it,
// so an alarm's history says whether a notice was delivered, and a restart continues with those
// that were not. Delivery is at least once: a crash between a target's response and its record
// repeats the attempt, with the same notice id. Retries follow the engine's clock; see look().
class Notifier {
 public:
  struct Parts {
    engine::Engine& engine;
    // Invokes a function by its ARN, asynchronously; empty: there are no functions.
    std::function<Result<void>(const std::string& arn, const std::string& payload)> invoke;
    // For webhooks configured by clients.
    http::OutgoingPolicyPtr outgoing = std::make_shared<http::OutgoingPolicy>();
    std::string ca_file = {};           // See OutgoingRules.
    std::function<void()> sync_wanted;  // Called after something was recorded.
    std::function<void(std::string)> log;
    // The journal's synced sequence; empty: notices do not wait to become durable.
    std::function<engine::Sequence()> synced = {};
    std::vector<std::chrono::milliseconds> pauses = default_pauses();  // Before each retry.
    std::chrono::milliseconds timeout{10'000};
  };
  static std::vector<std::chrono::milliseconds> default_pauses();

  explicit Notifier(Parts parts) : parts_(std::move(parts)) {}
  ~Notifier() { stop(); }
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Stops its threads. Undelivered notices are attempted after the next start.
  void stop() { workers_.stop(); }

  // Takes deliveries that were just queued, or are still open from before the start, and attempts
  // those that are due. A later notice of an alarm for the same target waits for one in progress,
  // so that they arrive in order.
  void send(std::vector<PendingDelivery> deliveries);
  // Attempts retries that have become due. Call every second, or as time moves.
  void look();

  // The latest deliveries of an alarm, one per target.
  std::vector<Delivery> latest(const AlarmKey& alarm) const;
  // The latest delivery for each target, of any alarm.
  std::vector<Delivery> latest_by_target() const;
  // Deliveries recorded by earlier runs of the server.
  void restore(LatestDeliveries latest);

  struct Totals {
    std::uint64_t delivered = 0;  // Since the start, like the next two.
    std::uint64_t failed_attempts = 0;
    std::uint64_t given_up = 0;
    std::uint64_t queued = 0;   // Currently: waiting for their first attempt,
    std::uint64_t failing = 0;  // or for another one.
  };
  Totals totals() const;

  // Waits until nothing is in progress or due, or `time` is up; returns whether it is idle.
  bool wait_idle(std::chrono::milliseconds time);

 private:
  struct Entry {
    std::uint64_t number;
    PendingDelivery pending;
    bool under_way = false;
  };
  using Entries = std::list<Entry>;

  static constexpr std::size_t kThreads = 4;
  static constexpr std::size_t kPendingMax = 1'000;
  static constexpr std::size_t kLatestMax = 20'000;
  static constexpr std::chrono::milliseconds kSyncLook{1};

  bool is_startable(const Entry& entry, Timestamp now) const REQUIRES(mutex_);
  void start_due(Timestamp now) REQUIRES(mutex_);
  void attempt(std::uint64_t number);
  Attempt deliver(const Target& target, const Notice& notice) const;
  Result<std::string> pass_on(const Target& target, const Notice& notice) const;
  Result<std::string> send_to_queue(const std::string& arn, const Notice& notice) const;
  // `open`: another attempt follows.
  void finish(Entries::iterator entry, const Attempt& outcome, bool open) REQUIRES(mutex_);
  void log_given_up(const PendingDelivery& pending) const;
  void refuse(PendingDelivery pending);
  void note(const PendingDelivery& pending) REQUIRES(mutex_);

  Parts parts_;
  mutable Mutex mutex_;  // Never held while the engine's turn is taken.
  ConditionVariable idle_;
  Entries entries_ GUARDED_BY(mutex_);
  LatestDeliveries latest_ GUARDED_BY(mutex_);
  Totals totals_ GUARDED_BY(mutex_);
  std::uint64_t last_ GUARDED_BY(mutex_) = 0;
  Workers workers_{kThreads};
};

}  // namespace redrive::alarms
