#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "dead_letters/dead_letters.h"
#include "observe/alarms/alarm_store.h"
#include "observe/alarms/dead_letters.h"
#include "observe/alarms/notifier.h"
#include "observe/metrics/history.h"

namespace redrive::alarms {

// Evaluates alarms, changes their states and sends notices: for alarms created by clients, and for
// the built-in one of every dead-letter queue. Called every second, or as time moves; each alarm is
// evaluated every ten seconds, or every minute if its period is a minute or more. Thread-safe;
// calls are serialised.
class Watcher {
 public:
  struct Parts {
    engine::Engine& engine;
    dead_letters::DeadLetters& dead_letters;
    const metrics::History& history;
    Notifier& notifier;
    std::function<void()> sync_wanted;  // Called after something was recorded.
    DeadLetterRules rules;
    std::vector<std::string> notify;  // Targets in the server's own configuration.
    std::string account;              // Account of the built-in alarms,
    std::string region = {};          // and region of tests.
    std::shared_ptr<const triage::MaskRules> mask_rules = {};  // May be null.
    std::string console_url = {};  // For links in notices; may be empty.
    http::OutgoingPolicyPtr outgoing = std::make_shared<http::OutgoingPolicy>();
    // Whether a function, version or alias with that ARN exists; empty: none does.
    std::function<bool(const std::string& arn)> has_function = {};
    bool accept_unreachable = false;  // Alarms may have unreachable targets.
  };
  explicit Watcher(Parts parts) : parts_(std::move(parts)), alarms_(parts_.engine) {}

  AlarmStore& store() { return alarms_; }
  // Continues with notices that were not delivered when the server stopped. Call at start, once
  // functions can be invoked; blocks while it reads all histories.
  void resume();
  // Why a target could not be reached, as far as known now; nullopt if it could. Does not resolve
  // names.
  std::optional<std::string> why_unreachable(const std::string& target) const;
  // Fails if an alarm may not use one of these targets because it cannot be reached.
  Result<void> check_reachable(const std::vector<std::string>& targets) const;
  // Evaluates the alarms that are due. The history must be up to date.
  void look();
  // SetAlarmState: sets the state until the next evaluation and runs its actions.
  Result<void> set_state(const AlarmKey& key, const Condition& condition);

  // State of the built-in alarm of each dead-letter queue.
  struct DeadLetterAlarm {
    DeadLetterReading reading;
    DeadLetterMemory memory;
    Alarm alarm;
  };
  std::vector<DeadLetterAlarm> dead_letter_alarms();
  // The same for damaged messages: every queue that ever had one has such an alarm.
  struct DamageAlarm {
    queue::QueueIdentity queue;
    std::size_t messages = 0;
    Alarm alarm;
  };
  std::vector<DamageAlarm> damage_alarms();
  // Enables or disables the built-in alarm of one queue.
  Result<void> switch_dead_letter_alarm(const queue::QueueIdentity& queue, bool on);
  // The state of an alarm of the server itself, such as that of its disk, has changed: records it
  // in its history and notifies every target in the server's own configuration.
  struct ServerAlarm {
    std::string name;
    std::string description;
    std::string reason;  // Why it is in the state.
    AlarmState before = AlarmState::ok;
    AlarmState state = AlarmState::alarm;
  };
  void tell(const ServerAlarm& changed);
  // Sends a test notice to every target in the server's own configuration; returns their number.
  std::size_t test();
  const Notifier& notifier() const { return parts_.notifier; }
  const std::vector<std::string>& own_target_names() const { return parts_.notify; }

 private:
  void judge_alarm(const Alarm& alarm, Timestamp now, Timestamp wall);
  void move_to(const Alarm& alarm, Condition condition);
  Target target_of(const std::string& text) const;
  std::vector<Target> own_targets() const;
  void record(const AlarmKey& key, const AlarmEvent& event);
  void look_at_dead_letters(Timestamp now, Timestamp wall) REQUIRES(mutex_);
  void tell_dead_letters(const DeadLetterReading& reading, const DeadLetterMemory& before,
                         const DeadLetterVerdict& verdict);
  void look_at_damage(Timestamp wall);
  void tell_damage(const queue::QueueIdentity& queue, std::size_t messages,
                   const DeadLetterMemory& memory);
  // State of the built-in alarms of one kind, by queue ARN.
  std::map<std::string, DeadLetterMemory> memories(std::string_view prefix) const;
  void remember(std::string_view prefix, const std::string& arn, const DeadLetterMemory& memory);
  static AlarmEvent::Setting memory_entry(std::string_view prefix, const std::string& arn,
                                          const DeadLetterMemory& memory);
  std::uint64_t arrivals_of(const queue::QueueIdentity& queue, Timestamp now) const;

  Parts parts_;
  AlarmStore alarms_;
  Mutex mutex_;
  std::map<AlarmKey, std::int64_t> judged_
      GUARDED_BY(mutex_);  // The interval in which each was last evaluated.
  std::int64_t dead_letters_judged_ GUARDED_BY(mutex_) = -1;
  std::atomic<std::int64_t> tests_ = 0;
};

// The built-in alarm for damaged messages of a queue, or for damaged events of a function.
Alarm damage_alarm(const queue::QueueIdentity& queue, const DeadLetterMemory& memory);
// A dead-letter queue's built-in alarm, in the form of a CloudWatch alarm.
Alarm dead_letter_alarm(const DeadLetterReading& reading, const DeadLetterMemory& memory);

}  // namespace redrive::alarms
