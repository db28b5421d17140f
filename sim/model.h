#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/queue/change.h"
#include "core/queue/message_table.h"
#include "core/queue/receipt_handle.h"
#include "sim/watched_journal.h"

namespace redrive::sim {

struct ModelMessage {
  queue::QueueKey queue{};
  std::string group;
  queue::Phase phase{};
  Timestamp visible_at;
  Timestamp sent_at;
  std::uint32_t receive_count = 0;
  bool visibility_touched = false;
  std::uint64_t order = 0;    // Its position in the queue.
  std::uint32_t edition = 0;  // Number of edits.
  queue::History history;     // Plain data only.

  std::uint32_t generation() const { return history.prior_receives + receive_count; }
};

struct ModelDedup {
  Timestamp expires;
  Uuid message_id;
  std::uint64_t sequence = 0;
};

struct ModelAttempt {
  Timestamp expires;
  std::vector<std::pair<queue::MessageKey, std::uint32_t>> messages;
};

// Outcomes of messages for one version of consumers' code.
struct ModelCodeUse {
  std::uint64_t processed = 0;
  std::uint64_t failed = 0;
  Timestamp first_wall;
  Timestamp last_wall;

  friend bool operator==(const ModelCodeUse&, const ModelCodeUse&) = default;
};
using ModelCodeUses = std::map<std::string, ModelCodeUse>;  // By code key.

struct ModelQueue {
  queue::QueueIdentity identity;
  queue::NameIndex arn{};
  queue::QueueSettings settings;
  queue::Tags tags;
  Timestamp created_wall;
  Timestamp modified_wall;
  Timestamp purged_at;
  // By group (if in scope) and id.
  std::map<std::pair<std::string, std::string>, ModelDedup> dedup;
  std::map<std::string, ModelAttempt, std::less<>> attempts;
  std::string processed;
  ModelCodeUses codes;
};

struct ModelTask {
  Uuid id;
  queue::QueueKey source{};
  std::string source_arn;
  std::string destination_arn;
  std::uint32_t rate = 0;
  std::uint64_t to_move = 0;
  queue::TaskPlan plan;
  // Messages in the source that the plan did not select when the job started. A consumer's receive
  // may make the plan select them later, after the job has passed them.
  std::set<queue::MessageKey> not_meant;
  queue::TaskCounts counts;
  queue::TaskCounts forgiven;
  std::uint32_t stage = 0;
  Timestamp since;    // Running since then.
  Timestamp watched;  // Nothing moved since then.
  Timestamp started_wall;
  Timestamp ended_wall;
  queue::TaskStatus status = queue::TaskStatus::running;
  std::string failure;
};

struct ModelArchived {
  queue::ArchivedLineage known;
  queue::MessageKey key{};    // Its former key,
  std::uint32_t edition = 0;  // and its number of edits.
};

struct ModelGroup {
  queue::QueueKey queue{};
  queue::GroupIdentity identity;
  queue::GroupStatus status = queue::GroupStatus::fresh;
  std::string note;
  queue::NameIndex marked_by{};
  std::uint64_t total = 0;
  std::uint64_t failed_again = 0;
  Timestamp first_wall;
  Timestamp last_wall;
  std::vector<queue::NameIndex> sources;
  std::vector<queue::NameIndex> consumers;
  ModelCodeUses codes;
  std::string owner;
  Timestamp ignored_until;
  std::uint64_t ignored_to_total = 0;
  std::map<std::int64_t, std::uint64_t> days;  // Arrivals by day number, like the next.
  std::map<std::int64_t, std::uint64_t> minutes;

  void arrive(Timestamp wall);
};

// A consumer's receive request, as far as the rules are concerned.
struct Ask {
  queue::QueueKey queue{};
  std::size_t max = 1;
  std::optional<Duration> visibility;
  std::string consumer;
  std::string attempt_id;
  bool isolated = false;
};

// The validity of a receipt handle for a queue.
enum class Standing {
  foreign,  // Not of this queue.
  gone,     // Its message has left since, or has entered again.
  stale,    // Another receive holds the message now, or none does.
  current,  // It holds the message.
};

// What the server should know, kept a second time in the simplest way: maps with linear scans. It
// shares plain types with src/core/queue and none of its code.
//
// It is fed with the records that the server wrote. Every fact is checked against the rules before
// it is applied; a fact that breaks one is a Violation. Time is exact here: whatever has ended by
// the timestamp of a record is over before the record counts, whether or not the server noticed.
class Model {
 public:
  using Entries = std::map<std::pair<queue::EntryKind, std::string>, std::string>;

  void apply(const Record& record);
  // Advances time without a record.
  void advance(Timestamp now);

  // Checks the rules of a receive; `record` is null if it took nothing.
  void check_receive(const Ask& ask, const Record* record) const;
  // Whether the message is dead-lettered at the next receive from its queue.
  bool is_spent(const ModelMessage& message) const;
  // The messages that a receive from this queue could take now.
  std::vector<queue::MessageKey> available(queue::QueueKey queue) const;
  const ModelDedup* find_dedup(const ModelQueue& queue, std::string_view group,
                               std::string_view id) const;
  // This queue's dead-letter queue.
  std::optional<queue::QueueKey> dead_letter_target(queue::QueueKey queue) const;
  std::optional<queue::QueueKey> find_by_arn(std::string_view arn) const;
  Standing standing(const queue::ReceiptHandle& handle, queue::QueueKey queue) const;
  std::size_t count(queue::QueueKey queue, queue::Phase phase) const;

  const std::map<queue::QueueKey, ModelQueue>& queues() const { return queues_; }
  const std::map<queue::MessageKey, ModelMessage>& messages() const { return messages_; }
  const std::map<queue::TaskKey, ModelTask>& tasks() const { return tasks_; }
  const std::map<queue::FailureGroupKey, ModelGroup>& groups() const { return groups_; }
  using GroupRules = std::map<std::pair<queue::QueueKey, std::uint32_t>, queue::GroupRule>;
  const GroupRules& group_rules() const { return group_rules_; }
  const std::map<queue::ErrorKey, queue::ErrorText>& errors() const { return errors_; }
  const std::map<std::uint64_t, ModelArchived>& archived() const { return archived_; }
  std::uint32_t last_group() const { return last_group_; }
  std::uint32_t last_error() const { return last_error_; }
  // Whether a job's plan selects this message, considering only the message itself.
  static bool plan_means(const queue::TaskPlan& plan, const ModelMessage& message);
  const std::vector<std::string>& names() const { return names_; }
  const std::map<queue::QueueIdentity, Timestamp>& deleted() const { return deleted_; }
  using Deploys = std::map<std::string, std::vector<queue::Deploy>, std::less<>>;
  const Deploys& deploys() const { return deploys_; }
  const Entries& entries() const { return entries_; }
  const std::array<std::uint8_t, 16>& secret() const { return secret_; }
  bool started() const { return started_; }
  std::uint64_t last_key() const { return last_key_; }
  std::uint32_t last_queue() const { return last_queue_; }
  std::uint32_t last_task() const { return last_task_; }
  const queue::Stamp& last_stamp() const { return last_stamp_; }
  queue::NameIndex find_name(std::string_view text) const;
  bool is_policy(queue::NameIndex actor) const;
  // Whether so much of what a job moved has failed that it must halt.
  bool must_halt(const ModelTask& task) const;
  void check_policy_redrive(const queue::MessageRedriven& fact);

 private:
  void on(const queue::ServerStarted&);
  void on(const queue::NameLearned&);
  void on(const queue::QueueCreated&);
  void on(const queue::QueueSettingsChanged&);
  void on(const queue::QueueTagsChanged&);
  void on(const queue::QueueDeleted&);
  void on(const queue::QueuePurged&);
  void on(const queue::MessageSent&);
  void on(const queue::MessagesReceived&);
  void on(const queue::MessageDeleted&);
  void on(const queue::VisibilityChanged&);
  void on(const queue::ReceiveRepeated&);
  void on(const queue::MessageDeadLettered&);
  void on(const queue::MessageRedriven&);
  void on(const queue::MoveTaskStarted&);
  void on(const queue::MoveTaskChanged&);
  void on(const queue::MoveTaskEnded&);
  void on(const queue::ErrorLearned&);
  void on(const queue::FailureReported&);
  void on(const queue::MessageDiscarded&);
  void on(const queue::MessageRestored&);
  void on(const queue::MessageDamaged&);
  void on(const queue::MessageSettled&);
  bool is_holder(queue::NameIndex actor) const;
  void on(const queue::MessageEdited&);
  void on(const queue::MessageArchived&);
  void on(const queue::LineageContinued&);
  void check_policy_archive(const queue::MessageArchived& fact);
  void on(const queue::MessageTried&);
  void on(const queue::CodeDeployed&);
  void count_processed(ModelQueue& queue, const ModelMessage& message);
  void count_failed(ModelCodeUses& codes, const queue::History& history);
  void on(const queue::GroupLearned&);
  void on(const queue::MessageGrouped&);
  void on(const queue::GroupMarked&);
  void on(const queue::GroupRuled&);
  void on(const queue::GroupRuleApplied&);
  void on(const queue::GroupRuleRemoved&);
  void change_group(queue::History& history, queue::FailureGroupKey to);
  void on(const queue::ProcessedCounted&);
  void on(const queue::EntryPut&);
  void on(const queue::EntryRemoved&);
  void on(const queue::ServerReset&);
  template <class Passive>
  void on(const Passive&) {}  // Checkpoints, compaction and the passage of time change nothing.

  ModelQueue& queue_of(queue::QueueKey key, std::string_view fact);
  ModelMessage& message_in(queue::QueueKey queue, queue::MessageKey key, std::string_view fact);
  void receive_one(const queue::MessagesReceived& fact, queue::MessageKey key);
  void check_redrive(const queue::MessageRedriven& fact);
  void check_plan(queue::TaskKey key, const ModelTask& task, const ModelMessage& message) const;
  std::set<queue::MessageKey> not_meant_by(const queue::TaskPlan& plan,
                                           queue::QueueKey source) const;
  void check_change(const ModelTask& task, const queue::MoveTaskChanged& fact) const;
  bool has_reason_to_halt(const ModelTask& task) const;
  std::optional<queue::MessageKey> left_behind(const ModelTask& task) const;
  // Reports the outcome of a message to the job that redrove it.
  void settle(ModelMessage& message, std::uint64_t queue::TaskCounts::*outcome);
  void carry_over(ModelMessage& message, queue::QueueKey to, std::uint64_t sequence);
  void take_sequence(std::uint64_t sequence, std::string_view fact);
  void drop_messages(const std::function<bool(const ModelMessage&)>& over);
  void forget_old_tasks(queue::QueueKey source);
  std::optional<std::vector<queue::MessageKey>> repeatable(const Ask& ask) const;

  std::map<queue::QueueKey, ModelQueue> queues_;
  std::map<queue::MessageKey, ModelMessage> messages_;
  std::map<queue::TaskKey, ModelTask> tasks_;
  std::map<queue::FailureGroupKey, ModelGroup> groups_;
  GroupRules group_rules_;
  std::map<queue::ErrorKey, queue::ErrorText> errors_;  // Never dropped here.
  std::uint32_t last_group_ = 0;
  std::uint32_t last_error_ = 0;
  std::map<std::uint64_t, ModelArchived> archived_;  // Likewise.
  queue::MessageKey edited_{};                       // In the record being applied.
  bool original_kept_ = false;                       // Likewise.
  bool disk_fails_ = false;                          // While the record was written.
  std::vector<std::string> names_{std::string()};
  std::map<queue::QueueIdentity, Timestamp> deleted_;  // Never dropped here.
  Entries entries_;
  Deploys deploys_;
  std::array<std::uint8_t, 16> secret_{};
  bool started_ = false;
  std::uint64_t last_key_ = 0;
  std::uint32_t last_queue_ = 0;
  std::uint32_t last_task_ = 0;
  queue::Stamp last_stamp_{};  // Of the last record.
  Timestamp now_;
  Timestamp wall_;  // Of the record being applied.
};

}  // namespace redrive::sim
