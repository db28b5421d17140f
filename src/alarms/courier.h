#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "alarms/delivery.h"
#include "alarms/history.h"
#include "alarms/target.h"
#include "base/workers.h"
#include "engine/engine.h"

namespace redrive::alarms {

// Delivers notices to their targets on threads of its own, so that a target that hangs delays
// neither messages nor, for long, other targets.
//
// Every notice is in the journal before it is attempted, with each attempt's outcome after it, so
// the history of an alarm says whether a notice arrived, and a restart goes on with those that have
// not. Delivery is at least once: a crash between a target's answer and its record repeats the
// attempt, with the same notice id. Retries follow the engine's clock; see look().
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
    // What the journal has synced; empty: notices do not wait until they are durable.
    std::function<engine::Sequence()> synced = {};
    std::vector<std::chrono::milliseconds> pauses = default_pauses();  // Before each retry.
    std::chrono::milliseconds timeout{10'000};
  };
  static std::vector<std::chrono::milliseconds> default_pauses();

  explicit Courier(Parts parts) : parts_(std::move(parts)) {}
  ~Courier() { stop(); }
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  // Ends its threads. What has not arrived by now is attempted after the next start.
  void stop() { workers_.stop(); }

  // Takes deliveries that were queued just now or are still open from before the start, and
  // attempts those that are due. A later notice of an alarm for a target waits for an earlier one
  // that is under way, so that they arrive in order.
  void send(std::vector<Errand> errands);
  // Attempts retries that have become due. To be called every second, or as time moves.
  void look();

  // The latest deliveries of an alarm, one for each target.
  std::vector<Delivery> latest(const AlarmKey& alarm) const;
  // The latest delivery for each target, of whichever alarm.
  std::vector<Delivery> latest_by_target() const;
  // What earlier runs of the server recorded.
  void restore(LatestDeliveries latest);

  struct Totals {
    std::uint64_t delivered = 0;  // Since the start, as the next three.
    std::uint64_t failed_attempts = 0;
    std::uint64_t given_up = 0;
    std::uint64_t queued = 0;   // Now: waiting for their first attempt,
    std::uint64_t failing = 0;  // or for another one.
  };
  Totals totals() const;

  // Until nothing is under way or due at once, or the time is up; whether nothing is.
  bool wait_idle(std::chrono::milliseconds time);

 private:
  struct Entry {
    std::uint64_t number;
    Errand errand;
    bool under_way = false;
  };
  using Entries = std::list<Entry>;

  static constexpr std::size_t kThreads = 4;
  static constexpr std::size_t kErrandsMax = 1'000;
  static constexpr std::size_t kLatestMax = 20'000;
  static constexpr std::chrono::milliseconds kSyncLook{1};

  bool is_startable(const Entry& entry, Timestamp now) const;
  void start_due(Timestamp now);
  void attempt(std::uint64_t number);
  Attempt deliver(const Target& target, const Notice& notice) const;
  Result<std::string> pass_on(const Target& target, const Notice& notice) const;
  Result<std::string> send_to_queue(const std::string& arn, const Notice& notice) const;
  // `open`: another attempt follows.
  void finish(Entries::iterator entry, const Attempt& outcome, bool open);
  void log_given_up(const Errand& errand) const;
  void refuse(Errand errand);
  void note(const Errand& errand);

  Parts parts_;
  mutable std::mutex mutex_;  // Guards the rest; never held while the engine's turn is taken.
  std::condition_variable idle_;
  Entries entries_;
  LatestDeliveries latest_;
  Totals totals_;
  std::uint64_t last_ = 0;
  Workers workers_{kThreads};
};

}  // namespace redrive::alarms
