#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/queue/archived.h"
#include "core/queue/change.h"
#include "core/queue/dedup_table.h"
#include "core/queue/mailbox.h"
#include "core/queue/message_table.h"
#include "core/queue/task_table.h"
#include "core/queue/traffic.h"

namespace redrive::queue {

// Tracks which stored bytes are in use, so that the journal can reuse the rest.
class BodyLedger {
 public:
  virtual ~BodyLedger() = default;
  virtual void hold(const BodyRef& body) = 0;
  virtual void let_go(const BodyRef& body) = 0;
};

// A ReceiveRequestAttemptId and the messages it received.
struct ReceiveAttempt {
  Timestamp expires;
  std::vector<std::pair<MessageKey, std::uint32_t>> messages;  // With the generation of each.
};

struct Queue {
  QueueKey key;
  NameIndex arn;
  QueueIdentity identity;
  QueueSettings settings;
  std::shared_ptr<const QueueSettings> published;  // The same, for readers outside the turn.
  Tags tags;
  Timestamp created_wall;
  Timestamp modified_wall;
  Timestamp purged_at;  // Engine time of the last purge; zero: never.
  std::uint32_t mailbox = 0;
  DedupTable dedup;  // FIFO.
  std::map<std::string, ReceiveAttempt, std::less<>> receive_attempts;
  std::deque<std::pair<Timestamp, std::string>> attempts_by_age;  // The same, by when they expire.
  std::string processed;                                          // See ProcessedCounted.
  CodeUses codes;   // Outcomes of its messages by version of the consumers' code.
  Traffic traffic;  // Not part of the state.
  // Messages sent at or before this have expired but are still to be removed; zero: none are.
  Timestamp behind_to;
  Timestamp expiry_at = kNever;  // When State::next_expiring checks the queue.

  bool is_behind() const { return behind_to != Timestamp(); }
};

inline constexpr std::size_t kTasksKeptPerSource = 50;

// What purges and deletions leave behind: large, so it is freed outside the turn. Freeing a million
// small objects takes tens of milliseconds.
struct Remains {
  std::deque<std::unique_ptr<Queue>> queues;
  std::deque<std::unique_ptr<Mailbox>> mailboxes;  // Emptied.
  std::deque<DedupTable> dedups;
  std::deque<std::map<std::string, ReceiveAttempt, std::less<>>> attempts;
  std::deque<std::deque<std::pair<Timestamp, std::string>>> attempts_by_age;
  std::deque<std::map<QueueIdentity, Timestamp>> deleted;
  std::deque<ArchivedLineages> archived;
};

// All durable state, rebuilt from facts alone.
//
// Facts enter only through `apply`, the passing of time only through `advance` (messages becoming
// visible, retention ending), and both depend on nothing but their arguments, so live operation and
// replay agree.
class State {
 public:
  explicit State(BodyLedger& ledger);

  void apply(const Change& change, const Stamp& stamp);

  // Brings one queue to `now`: expires messages, makes them visible, removes old deduplication ids.
  //
  // Does no more than the steps granted. What has expired and is still there then is not found by
  // find_message; the queue `is_behind`, and nothing is to be taken from its lists until it no
  // longer is. Which step expiry has reached is no part of the state: facts never speak of messages
  // that have expired, and those that depend on what is left advance in full.
  void advance(Queue& queue, Timestamp now);
  // How many messages `advance` may touch from now on. Unlimited until the first call.
  void grant(std::size_t steps) { steps_left_ = steps; }
  // Whether the last advance() of this queue left work for the next one.
  bool is_late(const Queue& queue, Timestamp now) const {
    const Mailbox& box = mailbox(queue);
    return queue.is_behind() || box.is_redelaying() || box.next_visible_at() <= now;
  }
  // A queue of which messages have expired at `now`; nullptr: there is none.
  Queue* next_expiring(Timestamp now);
  // Whether every purged or expired message is gone, so that counts of jobs are final.
  bool is_settled(Timestamp now) { return graves_.empty() && next_expiring(now) == nullptr; }
  // A queue in which delayed messages still have the old delay; nullptr: there is none.
  Queue* next_redelayed();

  // Units of work done so far: facts applied, and messages touched or visited for other reasons.
  std::uint64_t work() const { return work_; }
  void count_work(std::size_t units) const { work_ += units; }

  Queue* find(const QueueIdentity& identity);
  const Queue* find(const QueueIdentity& identity) const;
  Queue* find_by_arn(std::string_view arn);
  const Queue* find_by_arn(std::string_view arn) const;
  Queue* find(QueueKey key);
  const Queue* find(QueueKey key) const;
  const std::map<QueueIdentity, std::unique_ptr<Queue>>& queues() const { return queues_; }
  // Those that hold damaged messages, empty ones included.
  const std::map<QueueIdentity, Queue*>& damaged_queues() const { return damaged_queues_; }
  // Those that hold settled messages, the same.
  const std::map<QueueIdentity, Queue*>& settled_queues() const { return settled_queues_; }
  std::size_t settled_messages() const { return settled_messages_; }
  // The one of them whose messages expire next; nullptr: none has any.
  Queue* next_expiring_settled();
  // Prefetches what sends to these queues (or null) read. Changes nothing.
  void prefetch_queues(std::span<Queue* const> queues) const;
  Mailbox& mailbox(const Queue& queue) { return *mailboxes_[queue.mailbox]; }
  const Mailbox& mailbox(const Queue& queue) const { return *mailboxes_[queue.mailbox]; }

  // The slot of a message that is in this queue now; kNoSlot otherwise.
  Slot find_message(const Queue& queue, MessageKey key) const;
  const MessageTable& messages() const { return messages_; }
  void learn_mark(Slot slot, std::uint32_t mark) { messages_.learn_mark(slot, mark); }
  // The number of the delivery, over all lives: part of a receipt handle.
  std::uint32_t generation(Slot slot) const;

  MessageKey last_key() const { return last_key_; }
  QueueKey last_queue() const { return last_queue_; }
  TaskKey last_task() const { return last_task_; }
  const std::vector<std::string>& names() const { return names_; }
  NameIndex find_name(std::string_view text) const;
  // Empty for a name that is not known, or not yet: while a checkpoint is loaded, facts may refer
  // to names that come later in it.
  const std::string& name(NameIndex index) const {
    return names_[number(index) < names_.size() ? number(index) : 0];
  }
  const std::array<std::uint8_t, 16>& secret() const { return secret_; }
  bool started() const { return started_; }

  const std::map<TaskKey, MoveTask>& tasks() const { return tasks_.all(); }
  const std::map<Uuid, TaskKey>& tasks_by_id() const { return tasks_.by_id(); }
  const MoveTask* find_task(TaskKey key) const { return tasks_.find(key); }
  const MoveTask* find_task(const Uuid& id) const { return tasks_.find(id); }
  const MoveTask* active_task(QueueKey source) const { return tasks_.active(source); }
  // The first queue behind `after` that has jobs, groups or rules about groups; none: there is
  // none.
  QueueKey next_counting(QueueKey after) const;
  // Those of a queue, oldest first: never many more than kTasksKeptPerSource.
  std::vector<TaskKey> tasks_of(QueueKey source) const { return tasks_.of(source); }

  const ErrorTable& errors() const { return errors_; }
  const ArchivedLineages& archived() const { return archived_; }
  using GroupId = std::array<std::uint8_t, 16>;
  const std::map<FailureGroupKey, FailureGroup>& groups() const { return groups_; }
  const FailureGroup* find_group(FailureGroupKey key) const;
  const FailureGroup* find_group(QueueKey queue, const GroupId& id) const;
  std::size_t groups_of(QueueKey queue) const;
  // The same themselves, in the order in which they were learned.
  std::vector<const FailureGroup*> groups_in(QueueKey queue) const;
  bool has_room_for_group(QueueKey queue) const;
  FailureGroupKey last_group() const { return last_group_; }
  // The rules of a queue, in the order in which they apply.
  using GroupRules = std::map<std::pair<QueueKey, std::uint32_t>, GroupRule>;
  const GroupRules& group_rules() const { return group_rules_; }
  // The keys of rules that are not yet applied to existing messages.
  const std::set<GroupRules::key_type>& new_group_rules() const { return new_group_rules_; }
  std::vector<GroupRule> group_rules_of(QueueKey queue) const;
  // The group's id after the rules without filters.
  GroupId merged_id(QueueKey queue, const GroupId& id) const;
  // Changes whenever a rule is added or removed.
  std::uint64_t group_rules_version() const { return group_rules_version_; }
  // Dead letters that are not grouped yet. Removing them from this list is not a fact: after a
  // restart all without a group are on it again.
  std::size_t ungrouped() const { return ungrouped_.size(); }
  std::vector<MessageKey> take_ungrouped(std::size_t max);
  void put_back_ungrouped(MessageKey key) { ungrouped_.push_back(key); }
  bool wants_group(Slot slot) const;
  // A message's place in its queue: later arrivals have a higher one.
  std::uint64_t order_of(Slot slot) const;

  // The code key of a version that uses of queues and groups count by.
  const std::string& code_key(CodeIndex code) const { return codes_[code]; }
  // The deploys of functions by ConsumerName::role, oldest first.
  using Deploys = std::map<std::string, std::vector<Deploy>, std::less<>>;
  const Deploys& deploys() const { return deploys_; }
  // When the code that made an attempt at `wall` had been deployed; zero: not known.
  Timestamp deployed_before(NameIndex by, Timestamp wall) const;
  CodeUseSnapshot snapshot(const CodeUses& uses, QueueKey queue,
                           FailureGroupKey group = FailureGroupKey::none) const;

  using Entries = std::map<std::pair<EntryKind, std::string>, std::string>;
  const Entries& entries() const { return entries_; }
  // A document of the catalogue; nullptr when there is none.
  const std::string* find_entry(EntryKind kind, const std::string& name) const;
  // How many documents of a kind there are.
  std::size_t count_entries(EntryKind kind) const;
  // Changes whenever the catalogue changes.
  std::uint64_t entries_version() const { return entries_version_; }
  // The queues whose dead letters go to the one with this ARN, if any.
  const std::set<QueueIdentity>& sources_of(std::string_view arn) const;

  // When a queue of that name was deleted, if that was less than a minute ago.
  std::optional<Timestamp> deleted_at(const QueueIdentity& identity, Timestamp now) const;
  const std::map<QueueIdentity, Timestamp>& deleted() const { return deleted_; }

  // Brings every queue to `now`, however long it takes.
  void advance_all(Timestamp now);
  // The same for expiry only, in all queues.
  void expire_all(Timestamp now);

  // Purged and deleted mailboxes are emptied in slices; true while there is more.
  bool bury(std::size_t messages_max);
  // What is to be freed outside the turn.
  Remains take_remains() { return std::exchange(remains_, {}); }
  // Messages not to be visited by a checkpoint or a compaction.
  bool is_buried(Slot slot) const {
    return mailboxes_[messages_[slot].mailbox]->owner() == QueueKey::none;
  }
  // When a message becomes visible, or became so.
  Timestamp visible_at(Slot slot) const {
    return mailboxes_[messages_[slot].mailbox]->delay_end(slot);
  }
  QueueKey queue_of(Slot slot) const { return mailboxes_[messages_[slot].mailbox]->owner(); }
  std::string_view group_of(Slot slot) const {
    return mailboxes_[messages_[slot].mailbox]->group_name(slot);
  }

  std::uint64_t orphans() const {
    return orphans_;
  }  // Facts about messages that do not exist: only after a repair.
  std::size_t memory_bytes() const { return messages_.memory_bytes(); }

 private:
  void on(const ServerStarted&, const Stamp&);
  void on(const NameLearned&, const Stamp&);
  void on(const QueueCreated&, const Stamp&);
  void on(const QueueSettingsChanged&, const Stamp&);
  void on(const QueueTagsChanged&, const Stamp&);
  void on(const QueueDeleted&, const Stamp&);
  void on(const QueuePurged&, const Stamp&);
  void on(const MessageSent&, const Stamp&);
  void on(const MessagesReceived&, const Stamp&);
  void on(const MessageDeleted&, const Stamp&);
  void on(const VisibilityChanged&, const Stamp&);
  void on(const ReceiveRepeated&, const Stamp&);
  void on(const MessageDeadLettered&, const Stamp&);
  void on(const MessageRedriven&, const Stamp&);
  void on(const MoveTaskStarted&, const Stamp&);
  void on(const MoveTaskChanged&, const Stamp&);
  void on(const MoveTaskEnded&, const Stamp&);
  void on(const ErrorLearned&, const Stamp&);
  void on(const FailureReported&, const Stamp&);
  void on(const MessageDiscarded&, const Stamp&);
  void on(const MessageRestored&, const Stamp&);
  void on(const MessageDamaged&, const Stamp&);
  void on(const MessageSettled&, const Stamp&);
  void on(const MessageEdited&, const Stamp&);
  void on(const MessageArchived&, const Stamp&);
  void on(const LineageContinued&, const Stamp&);
  void on(const MessageTried&, const Stamp&);
  void on(const CodeDeployed&, const Stamp&);
  void on(const CodeUseSnapshot&, const Stamp&);
  void on(const GroupLearned&, const Stamp&);
  void on(const MessageGrouped&, const Stamp&);
  void on(const GroupMarked&, const Stamp&);
  void on(const GroupRuled&, const Stamp&);
  void on(const GroupRuleApplied&, const Stamp&);
  void on(const GroupRuleRemoved&, const Stamp&);
  void on(const ProcessedCounted&, const Stamp&);
  void on(const EntryPut&, const Stamp&);
  void on(const EntryRemoved&, const Stamp&);
  void on(const MessageRelocated&, const Stamp&);
  void on(const ServerReset&, const Stamp&);
  void on(const TimePassed&, const Stamp&) {}
  void on(const CheckpointBegun&, const Stamp&);
  void on(const QueueSnapshot&, const Stamp&);
  void on(const MessageSnapshot&, const Stamp&);
  void on(const WaitingSnapshot&, const Stamp&);
  void on(const DedupSnapshot&, const Stamp&);
  void on(const AttemptSnapshot&, const Stamp&);
  void on(const TaskSnapshot&, const Stamp&);
  void on(const GroupSnapshot&, const Stamp&);
  void on(const ArchivedSnapshot&, const Stamp&);
  void on(const DeletedNameSnapshot&, const Stamp&);
  void on(const CheckpointMessagesEnded&, const Stamp&);
  void on(const CheckpointCounted&, const Stamp&);
  void on(const CheckpointEnded&, const Stamp&);

  // `advance` for a queue that a checkpoint has loaded in part: visits every message.
  void advance_loading(Queue& queue, Timestamp now);
  void advance_fully(Queue& queue, Timestamp now);
  void expire(Queue& queue, Timestamp limit);
  // A message sent then has entered the queue.
  void note_expiry(Queue& queue, Timestamp sent_at) {
    if (sent_at + queue.settings.retention < queue.expiry_at) {
      schedule_expiry(queue, sent_at + queue.settings.retention);
    }
  }
  void schedule_expiry(Queue& queue, Timestamp at);
  void forget_attempts(Queue& queue, Timestamp now);
  void redelay(Queue& queue, Timestamp now);
  void forget_old_names(Timestamp now);
  void free_remains_of_replay();
  void drop_loaded(Queue* from, MessageKey key);
  void reschedule_expiry(Queue& queue);
  std::vector<Slot> members(const Queue& queue) const;
  Queue& add_queue(const QueueCreated& created);
  void remove_queue(const Queue& queue);
  void set_settings(Queue& queue, const QueueSettings& settings);
  void note_source(const Queue& queue, bool is_source);
  std::uint32_t open_mailbox(const Queue& queue);
  void close_mailbox(std::uint32_t index);
  // The message a fact refers to, or kNoSlot (counted as an orphan unless a checkpoint is being
  // loaded).
  Slot expect_message(const Queue& queue, MessageKey key);
  Queue* expect_queue(QueueKey key);
  enum class Outcome { succeeded, failed_again, gone };
  void remove(Mailbox& box, Slot slot, Outcome outcome);
  void forget(Slot slot);
  // Counts the outcome of a message for the job that redrove it.
  void settle_job(Slot slot, Outcome outcome);
  void settle_all(const Queue& queue);
  void leave_group(Slot slot);
  void change_group(Slot slot, FailureGroupKey to, const Stamp& stamp);
  void let_go_errors(Slot slot);
  void hold_errors(const History& history);
  void let_go_errors(const History& history);
  // Ends the open delivery of a message that is moved out of its queue.
  void end_delivery(Slot slot, Timestamp now);
  void remember_archived(std::uint64_t sequence, ArchivedLineage archived);
  void forget_archived();
  Slot carry_over(MessageKey key, QueueKey from, QueueKey to, std::uint64_t sequence,
                  const Stamp& stamp);
  // The message that is about to leave the queue was processed by its last consumer.
  void count_processed(Queue& queue, Slot slot, const Stamp& stamp);
  void count_failed(CodeUses& uses, const History& history, const Stamp& stamp);
  FailureGroup& add_group(const GroupLearned& fact);
  void make_room_for_group(QueueKey queue);
  const FailureGroup* oldest_empty_group(QueueKey queue) const;
  void forget_groups(QueueKey queue);
  void count_groups();
  void count_members(const Queue& queue);
  void count_member(Slot slot);
  void list_ungrouped();
  void finish_messages(const Stamp& stamp);
  // While a checkpoint is loaded: its jobs, groups and rules of this queue are yet to come.
  bool awaits_counts(QueueKey queue) const {
    return counted_to_ && number(queue) > number(*counted_to_);
  }
  // Whether to load a snapshot of jobs, groups or rules of this queue. If so, expired messages are
  // removed first, as they were when the snapshot was written.
  bool takes_counts(QueueKey queue, const Stamp& stamp);
  MoveTask& add_task(const MoveTaskStarted& fact);
  using GroupIndex = std::map<std::pair<QueueKey, GroupId>, FailureGroupKey>;
  std::pair<GroupIndex::const_iterator, GroupIndex::const_iterator> group_range(
      QueueKey queue) const;
  // A slot for a message of a checkpoint.
  Slot load(MessageKey key);
  void receive_one(const Queue& queue, MessageKey key, const MessagesReceived& fact,
                   const Stamp& stamp);
  void enter_anew(Slot slot, const Queue& from, Queue& to, std::string group,
                  std::optional<Timestamp> delayed_until = std::nullopt);
  void forget_old_tasks(QueueKey source);

  BodyLedger& ledger_;
  MessageTable messages_;
  std::vector<std::unique_ptr<Mailbox>> mailboxes_;
  std::vector<std::uint32_t> free_mailboxes_;
  std::deque<std::uint32_t> graves_;
  std::map<QueueIdentity, std::unique_ptr<Queue>> queues_;
  // The same for lookups: in a tree of a thousand names a lookup takes as long as recording a send.
  std::unordered_map<QueueIdentity, Queue*, QueueIdentityHash> queues_by_name_;
  std::unordered_map<QueueKey, Queue*> queues_by_key_;
  std::map<QueueIdentity, Queue*> damaged_queues_;
  std::map<QueueIdentity, Queue*> settled_queues_;
  std::size_t settled_messages_ = 0;  // In all of these.
  void note_deleted(const QueueIdentity& identity, Timestamp at, Timestamp now);

  std::map<QueueIdentity, Timestamp> deleted_;
  std::deque<std::pair<Timestamp, QueueIdentity>> deleted_by_age_;  // The same, oldest first.
  std::vector<std::string> names_;
  std::unordered_map<std::string, NameIndex, TextHash, std::equal_to<>> name_index_;
  CodeTable codes_;
  Deploys deploys_;
  TaskTable tasks_;
  Entries entries_;
  std::map<EntryKind, std::size_t> entry_counts_;
  ErrorTable errors_;
  ArchivedLineages archived_;
  std::map<FailureGroupKey, FailureGroup> groups_;
  GroupIndex group_index_;
  std::unordered_map<QueueKey, std::size_t> group_counts_;  // How many each queue has.
  GroupRules group_rules_;
  std::set<GroupRules::key_type> new_group_rules_;
  std::uint64_t group_rules_version_ = 0;
  std::deque<MessageKey> ungrouped_;
  FailureGroupKey last_group_ = FailureGroupKey::none;
  MessageKey last_key_ =
      MessageKey::none;  // Also counts FIFO sequence numbers and places in a queue.
  QueueKey last_queue_ = QueueKey::none;
  TaskKey last_task_ = TaskKey::none;
  std::array<std::uint8_t, 16> secret_{};
  bool started_ = false;
  bool loading_ = false;
  bool outcomes_counted_ = false;  // Snapshots of jobs that follow include what happens now.
  // Between CheckpointMessagesEnded and CheckpointEnded: the last queue whose jobs, groups and
  // rules are loaded.
  std::optional<QueueKey> counted_to_;
  std::uint64_t orphans_ = 0;
  std::uint64_t entries_version_ = 0;
  std::map<std::string, std::set<QueueIdentity>, std::less<>> sources_;  // By dead-letter queue.
  std::size_t steps_left_ = SIZE_MAX;
  mutable std::uint64_t work_ = 0;
  // When to check each queue that has messages for expired ones: not later than its oldest expires,
  // possibly earlier.
  using Expiries = std::set<std::pair<Timestamp, QueueKey>>;
  Expiries expiries_;
  Expiries settled_expiries_;     // The same for queues of settled messages alone.
  std::set<QueueKey> redelayed_;  // Queues whose delayed messages get another delay.
  Remains remains_;
};

}  // namespace redrive::queue
