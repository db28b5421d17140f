#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "alarms/book.h"
#include "alarms/courier.h"
#include "alarms/dead_letters.h"
#include "metrics/history.h"

namespace redrive::alarms {

// Looks at what alarms are about, changes their states and sends word of it: those that clients
// made, and the one that every dead-letter queue has by itself. Called every second, or as time
// moves; each alarm is judged every ten seconds, or every minute when its period is a minute or
// more. From any thread; one after another.
class Watcher {
 public:
  struct Parts {
    engine::Engine& engine;
    const metrics::History& history;
    Courier& courier;
    std::function<void()> sync_wanted;  // Something was recorded.
    DeadLetterRules rules;
    std::vector<std::string> notify;  // Targets of the server's own file.
    std::string account;              // In whose name dead-letter queues raise alarms,
    std::string region = {};          // and where tests do.
    std::shared_ptr<const dead_letter::MaskRules> mask_rules = {};  // May be null.
    std::string console_url = {};  // For links in notices; may be empty.
    http::OutgoingPolicyPtr outgoing = std::make_shared<http::OutgoingPolicy>();
    // Whether there is a function, version or alias of that ARN; empty: none.
    std::function<bool(const std::string& arn)> has_function = {};
    bool accept_unreachable = false;  // Alarms may name targets that cannot be reached.
  };
  explicit Watcher(Parts parts) : parts_(std::move(parts)), book_(parts_.engine) {}

  Book& book() { return book_; }
  // Goes on with notices that had not arrived when the server stopped. To be called at start, once
  // functions can be invoked; blocks for as long as it takes to read all histories.
  void resume();
  // Why a notice could not reach a target that an alarm names, judged by what is known now; nothing
  // when it could. Names are not resolved.
  std::optional<std::string> why_unreachable(const std::string& target) const;
  // An error for a target that an alarm may not name because it cannot be reached.
  Result<void> check_reachable(const std::vector<std::string>& targets) const;
  // Judges what is due. The history is to be up to date.
  void look();
  // A client says what state an alarm is in, until the next look; its actions are taken.
  Result<void> set_state(const AlarmKey& key, const Condition& condition);

  // What every dead-letter queue's own alarm is in.
  struct DeadLetterAlarm {
    DeadLetterReading reading;
    DeadLetterMemory memory;
    Alarm alarm;
  };
  std::vector<DeadLetterAlarm> dead_letter_alarms();
  // The same for damaged messages: any queue that has had one has such an alarm.
  struct DamageAlarm {
    queue::QueueIdentity queue;
    std::size_t messages = 0;
    Alarm alarm;
  };
  std::vector<DamageAlarm> damage_alarms();
  // Switches the alarm of one queue.
  Result<void> switch_dead_letter_alarm(const queue::QueueIdentity& queue, bool on);
  // An alarm of the server itself, such as that of its disk, has another state: its history and
  // every target of the server's own file are notified.
  struct ServerAlarm {
    std::string name;
    std::string description;
    std::string reason;  // Why it is in the state.
    AlarmState before = AlarmState::ok;
    AlarmState state = AlarmState::alarm;
  };
  void tell(const ServerAlarm& changed);
  // Tells every target of the server's own file that this is a test; how many there are.
  std::size_t test();
  const Courier& courier() const { return parts_.courier; }
  const std::vector<std::string>& own_target_names() const { return parts_.notify; }

 private:
  void judge_alarm(const Alarm& alarm, Timestamp now, Timestamp wall);
  void move_to(const Alarm& alarm, Condition condition);
  Target target_of(const std::string& text) const;
  std::vector<Target> own_targets() const;
  void record(const AlarmKey& key, const AlarmEvent& event);
  void look_at_dead_letters(Timestamp now, Timestamp wall);
  void tell_dead_letters(const DeadLetterReading& reading, const DeadLetterMemory& before,
                         const DeadLetterVerdict& verdict);
  void look_at_damage(Timestamp wall);
  void tell_damage(const queue::QueueIdentity& queue, std::size_t messages,
                   const DeadLetterMemory& memory);
  // What is known of alarms of one kind, by the ARNs of their queues.
  std::map<std::string, DeadLetterMemory> memories(std::string_view prefix) const;
  void remember(std::string_view prefix, const std::string& arn, const DeadLetterMemory& memory);
  static AlarmEvent::Setting memory_entry(std::string_view prefix, const std::string& arn,
                                          const DeadLetterMemory& memory);
  std::uint64_t arrivals_of(const queue::QueueIdentity& queue, Timestamp now) const;

  Parts parts_;
  Book book_;
  std::mutex mutex_;                         // Guards the rest.
  std::map<AlarmKey, std::int64_t> judged_;  // In which stretch of time each was last judged.
  std::int64_t dead_letters_judged_ = -1;
  std::atomic<std::int64_t> tests_ = 0;
};

// The alarm about damaged messages that every queue has by itself.
Alarm damage_alarm(const queue::QueueIdentity& queue, const DeadLetterMemory& memory);
// The alarm that a dead-letter queue has by itself, as one of CloudWatch's would look.
Alarm dead_letter_alarm(const DeadLetterReading& reading, const DeadLetterMemory& memory);

}  // namespace redrive::alarms
