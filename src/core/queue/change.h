#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/time.h"
#include "core/queue/archived.h"
#include "core/queue/code_use.h"
#include "core/queue/error_table.h"
#include "core/queue/failure_group.h"
#include "core/queue/history.h"
#include "core/queue/ids.h"
#include "core/queue/move_task.h"
#include "core/queue/settings.h"

namespace redrive::queue {

// The time of an operation, set once by the engine. `now` is engine time and orders everything;
// `wall` is for display.
struct Stamp {
  Timestamp now;
  Timestamp wall;
};

using Tags = std::map<std::string, std::string, std::less<>>;

inline constexpr std::size_t kReceiveMax = 10;

// The facts. Every durable state change is one of these, in the journal and in memory; replaying
// them in order rebuilds an equal state. Views are valid while the fact is being recorded or
// replayed.

struct ServerStarted {                  // The first fact of a journal.
  std::array<std::uint8_t, 16> secret;  // Seals receipt handles and page tokens.
};
struct NameLearned {
  NameIndex index;
  std::string_view text;
};
struct QueueCreated {
  QueueKey queue;
  NameIndex arn;
  QueueIdentity identity;
  QueueSettings settings;
  Tags tags;
};
struct QueueSettingsChanged {
  QueueKey queue;
  QueueSettings settings;
};
struct QueueTagsChanged {
  QueueKey queue;
  Tags tags;
};
struct QueueDeleted {
  QueueKey queue;
};
struct QueuePurged {
  QueueKey queue;
};

// A message as its sender gave it. The tail (everything variable) is laid out by the store.
struct MessageSent {
  QueueKey queue;
  MessageKey key;
  Uuid message_id;
  Timestamp visible_at;  // Equal to the stamp's `now` when not delayed.
  std::string_view group;
  std::string_view dedup;  // FIFO: the deduplication id, given or computed from the body.
  std::string_view
      tail;  // Encoded contents, see store/message_codec.h; starts with group and dedup.
  std::uint32_t tail_crc;
  BodyRef body;  // Set when the location in the journal is known.
};
struct MessagesReceived {
  QueueKey queue;
  NameIndex by;
  Timestamp visible_at;
  std::uint8_t count = 0;
  std::array<MessageKey, kReceiveMax> keys;
  std::string_view attempt_id;  // ReceiveRequestAttemptId, FIFO only.
  bool isolated = false;        // By a consumer that isolates retries, standard queues only.
};
struct MessageDeleted {
  QueueKey queue;
  MessageKey key;
};
struct VisibilityChanged {
  QueueKey queue;
  MessageKey key;
  Timestamp visible_at;  // Not after the stamp: visible at once.
  bool not_run = false;  // Returned before a handler saw it, under isolation of retries.
};
// A repeated receive attempt: the same messages again, with a new visibility timeout.
struct ReceiveRepeated {
  QueueKey queue;
  Timestamp visible_at;
  std::uint8_t count = 0;
  std::array<MessageKey, kReceiveMax> keys;
};
// Leaving one queue and entering another is one fact.
struct MessageDeadLettered {
  MessageKey key;
  QueueKey from;
  QueueKey to;
  std::uint64_t sequence;  // Its place in the queue it enters, from the same count as message keys.
  DeadLetterReason why = DeadLetterReason::receive_count;
};
// A consumer reported why its delivery failed.
struct ErrorLearned {
  ErrorKey error;
  ErrorText text;
};
struct FailureReported {
  QueueKey queue;
  MessageKey key;
  ErrorKey error;
  std::optional<Timestamp> visible_at;  // When to retry; none: unchanged.
  std::optional<RetryCounts> retries;   // New values; none: unchanged.
  std::uint16_t company = 0;            // See Attempt.
};
struct MessageRedriven {
  TaskKey task;
  MessageKey key;
  QueueKey from;
  QueueKey to;
  Uuid message_id;
  std::uint64_t sequence;
  NameIndex actor = NameIndex::none;
  NameIndex reason = NameIndex::none;
  std::optional<Timestamp> visible_at;  // Delayed until then; none: visible at once.
};

struct MoveTaskStarted {
  TaskKey task;
  Uuid id;
  QueueKey source;
  std::string_view source_arn;
  std::string_view destination_arn;  // Empty: each message to its source queue.
  std::uint32_t rate = 0;            // Messages per second; 0: unlimited.
  std::uint64_t to_move = 0;
  TaskPlan plan;
};
struct MoveTaskChanged {
  TaskKey task;
  TaskStatus status;
  std::uint32_t rate = 0;
  std::uint32_t stage = 0;  // Of a canary: how many stages have been passed.
  std::string_view note;    // Why it is paused or halted.
};
struct MoveTaskEnded {
  TaskKey task;
  TaskStatus status;
  std::string_view failure;
};

// A dead letter moves to the bin, or back.
struct MessageDiscarded {
  MessageKey key;
  QueueKey from;
  QueueKey to;
  std::uint64_t sequence;
  NameIndex actor;
  NameIndex reason;
};
struct MessageRestored {
  MessageKey key;
  QueueKey from;
  QueueKey to;
  std::uint64_t sequence;
  NameIndex actor;
};
// The stored bytes of a message cannot be read as what was written. It leaves its queue for a
// hidden one, where it blocks no other message and is kept until it is dropped or can be read
// again. The way back is a MessageRestored, dropping it a MessageDeleted.
struct MessageDamaged {
  MessageKey key;
  QueueKey from;
  QueueKey to;
  std::uint64_t sequence;
  NameIndex error;  // What is wrong with its bytes.
};
// A consumer has deleted a message that was dead-lettered and redriven before. It leaves its queue
// for a hidden one, where it can be found until it expires or newer ones need the space.
struct MessageSettled {
  MessageKey key;
  QueueKey from;
  QueueKey to;
  std::uint64_t sequence;
};
// A dead letter was edited. Its id and lineage stay the same.
struct MessageEdited {
  MessageKey key;
  NameIndex actor;
  NameIndex reason;
  std::string_view stored;  // The new bytes, head and tail.
  BodyRef body;             // Set when their location is known.
};

// A message was archived; the archive had it before this was recorded.
struct MessageArchived {
  QueueKey queue;
  MessageKey key;
  std::uint64_t sequence;  // Its place among what is archived, from the count of message keys.
  Uuid lineage;            // The MessageId of its first send,
  Uuid message_id;         // and the one it had.
  NameIndex actor;
  NameIndex reason;
  std::string_view place;  // See ArchivedLineage.
};
inline constexpr std::size_t kArchivePlaceBytesMax = 2048;
// The message that was sent just before it continues the history of another: it was restored from
// an archive, or is the original of an edited message. Its stored MessageId is that of the first
// send.
struct LineageContinued {
  MessageKey key;
  std::optional<Uuid> archived_as;  // The MessageId it had when it was archived.
  std::shared_ptr<const History> history;
};

// A handler ran on a copy of the message. The message itself did not move.
struct MessageTried {
  QueueKey queue;
  MessageKey key;
  NameIndex actor;
  NameIndex reason;  // Which code ran, and how it ended.
};

// Versions of a function's code were put into service, the newest last. Adds to what is known.
struct CodeDeployed {
  std::string_view function;  // As ConsumerName::role says it.
  std::vector<Deploy> deploys;
};

struct GroupLearned {
  FailureGroupKey group;
  QueueKey queue;
  GroupIdentity identity;
};
// A dead letter belongs to a group.
struct MessageGrouped {
  MessageKey key;
  QueueKey queue;
  FailureGroupKey group;
};
struct GroupMarked {
  FailureGroupKey group;
  GroupStatus status;
  std::string_view note;
  NameIndex actor;
  std::string_view owner = {};
  Timestamp ignored_until = {};  // See FailureGroup, like the next.
  std::uint64_t ignored_to_total = 0;
};
// A rule about groups was made by hand, or has been applied to the messages that were there.
struct GroupRuled {
  QueueKey queue;
  GroupRule rule;
};
struct GroupRuleApplied {
  QueueKey queue;
  std::uint32_t number;
};
// Messages that it has put into another group stay there.
struct GroupRuleRemoved {
  QueueKey queue;
  std::uint32_t number;
};
// What the messages that a queue's consumers deleted had in common, as triage::FeatureCounts
// writes it.
struct ProcessedCounted {
  QueueKey queue;
  std::string_view counts;
};

// The catalogue: small documents by kind and name, for modules that store definitions.
struct EntryPut {
  EntryKind kind;
  std::string_view name;
  std::string_view value;
};
struct EntryRemoved {
  EntryKind kind;
  std::string_view name;
};
inline constexpr std::size_t kEntryBytesMax = 256u << 10;

// All queues and everything in them are removed, for tests.
struct ServerReset {};

// Only a stamp: makes it durable that time has passed, and with it everything that expired.
struct TimePassed {};

// A message's bytes were moved (compaction).
struct MessageRelocated {
  MessageKey key;
  std::string_view stored;  // The bytes as stored at the old location.
  BodyRef body;             // Set when the new location is known.
};

// A checkpoint is written between other facts. While it is replayed, facts about messages that no
// chunk has contained yet are skipped: the chunk was taken later and includes their effect.
struct CheckpointBegun {
  MessageKey last_key;
  QueueKey last_queue;
  TaskKey last_task;
  std::uint32_t name_count;
  std::array<std::uint8_t, 16> secret;
  ErrorKey last_error = ErrorKey::none;
  FailureGroupKey last_group = FailureGroupKey::none;
  bool jobs_first = false;  // By a version that wrote jobs ahead of the messages.
};
struct QueueSnapshot {
  QueueCreated created;
  Timestamp created_wall;
  Timestamp modified_wall;
  Timestamp purged_at;
};
struct MessageSnapshot {
  MessageKey key;
  QueueKey queue;
  BodyRef body;
  Timestamp visible_at;
  Timestamp sent_at;
  std::uint32_t receive_count;
  std::uint8_t phase;
  bool visibility_touched;
  std::string_view group;
  const History* history = nullptr;   // When writing.
  std::shared_ptr<History> restored;  // When reading.
  std::uint32_t lineage_mark = 0;     // See Message.
};
// Messages still as they were sent: visible, never received, in no failure group. Most of a backlog
// is like this, so they are written by the hundreds, in a few bytes each.
struct WaitingMessage {
  MessageKey key{};
  QueueKey queue{};
  BodyRef body;
  Timestamp visible_at;
  Timestamp sent_at;
  std::uint32_t lineage_mark = 0;  // See Message.
};
struct WaitingSnapshot {
  std::vector<WaitingMessage> messages;
};
struct DedupSnapshot {
  QueueKey queue;
  std::array<std::uint64_t, 2> id;
  Timestamp expires;
  Uuid message_id;
  std::uint64_t sequence;
};
struct AttemptSnapshot {
  QueueKey queue;
  std::string_view attempt_id;
  Timestamp expires;
  std::vector<std::pair<MessageKey, std::uint32_t>> messages;
};
struct TaskSnapshot {
  MoveTaskStarted started;
  TaskStatus status;
  TaskCounts counts;
  TaskCounts forgiven;
  std::uint32_t stage = 0;
  Timestamp started_wall;
  Timestamp ended_wall;
  std::string_view failure;
};
struct GroupSnapshot {
  GroupLearned learned;
  GroupStatus status;
  std::string_view note;
  NameIndex marked_by;
  const GroupArrivals* arrivals = nullptr;       // When writing.
  std::shared_ptr<GroupArrivals> restored = {};  // When reading.
  std::string_view owner = {};
  Timestamp ignored_until = {};
  std::uint64_t ignored_to_total = 0;
};
// The outcomes of a queue's messages, or a failure group's, by version of the consumers' code.
struct CodeUseSnapshot {
  struct Use {
    std::string code;  // As ConsumerName::code_key says it.
    std::uint64_t processed = 0;
    std::uint64_t failed = 0;
    Timestamp first_wall;
    Timestamp last_wall;

    friend bool operator==(const Use&, const Use&) = default;
  };
  QueueKey queue;
  FailureGroupKey group = FailureGroupKey::none;  // None: of the queue.
  bool forgot = false;
  std::vector<Use> uses;
};
struct ArchivedSnapshot {
  std::uint64_t sequence;
  const ArchivedLineage* archived = nullptr;  // When writing.
  std::shared_ptr<ArchivedLineage> restored;  // When reading.
};
struct DeletedNameSnapshot {  // A queue that was deleted recently.
  QueueIdentity identity;
  Timestamp deleted_at;
};
// All messages of the checkpoint are written. Jobs, groups and rules follow, queue by queue: they
// count outcomes of messages, so those of one queue are written in one step, and replay skips
// earlier facts about them.
struct CheckpointMessagesEnded {};
// Jobs, groups and rules of all queues up to this one are written.
struct CheckpointCounted {
  QueueKey queue;
};
struct CheckpointEnded {};

template <typename... Facts>
struct FactList {
  static constexpr std::size_t kCount = sizeof...(Facts);
  static constexpr std::size_t kLargest = std::max({sizeof(Facts)...});

  template <typename Fact>
  static constexpr bool kHas = (std::is_same_v<Fact, Facts> || ...);

  template <typename Fact>
  static consteval std::uint8_t index() {
    std::uint8_t at = 0;
    (void)((std::is_same_v<Fact, Facts> || (++at, false)) || ...);
    return at;
  }

  // The visitor returns the same type for every kind.
  template <typename Visitor>
  static auto visit(std::uint8_t which, const void* held, Visitor& visitor) {
    using Answer = std::common_type_t<std::invoke_result_t<Visitor&, const Facts&>...>;
    using Call = Answer (*)(Visitor&, const void*);
    static constexpr Call kCalls[] = {[](Visitor& call, const void* fact) -> Answer {
      return call(*static_cast<const Facts*>(fact));
    }...};
    return kCalls[which](visitor, held);
  }
};

using AllFacts = FactList<
    ServerStarted, NameLearned, QueueCreated, QueueSettingsChanged, QueueTagsChanged, QueueDeleted,
    QueuePurged, MessageSent, MessagesReceived, MessageDeleted, VisibilityChanged, ReceiveRepeated,
    MessageDeadLettered, MessageRedriven, MoveTaskStarted, MoveTaskChanged, MoveTaskEnded,
    ErrorLearned, FailureReported, MessageDiscarded, MessageRestored, MessageDamaged,
    MessageSettled, MessageEdited, MessageArchived, LineageContinued, GroupLearned, MessageGrouped,
    GroupMarked, GroupRuled, GroupRuleApplied, GroupRuleRemoved, ProcessedCounted, EntryPut,
    EntryRemoved, MessageRelocated, ServerReset, TimePassed, CheckpointBegun, QueueSnapshot,
    MessageSnapshot, WaitingSnapshot, DedupSnapshot, AttemptSnapshot, TaskSnapshot, GroupSnapshot,
    ArchivedSnapshot, DeletedNameSnapshot, CheckpointEnded, MessageTried, CodeDeployed,
    CodeUseSnapshot, CheckpointMessagesEnded, CheckpointCounted>;

// One fact of any kind. A std::variant would do, but of forty kinds: every file that holds a fact
// would compile its copy, move and destructor, which was a third of the server's build time. Here
// they are compiled once, in change.cpp.
class Change {
 public:
  template <typename Fact>
  requires(AllFacts::kHas<Fact>) Change(Fact fact) : which_{AllFacts::index<Fact>()} {
    ::new (static_cast<void*>(held_)) Fact(std::move(fact));
  }
  Change(const Change& other);
  Change(Change&& other) noexcept;
  Change& operator=(const Change& other);
  Change& operator=(Change&& other) noexcept;
  ~Change();

  std::size_t index() const { return which_; }

  template <typename Fact>
  bool is() const {
    return which_ == AllFacts::index<Fact>();
  }

  // Null if it is a fact of another kind.
  template <typename Fact>
  const Fact* as() const {
    return is<Fact>() ? static_cast<const Fact*>(held()) : nullptr;
  }
  template <typename Fact>
  Fact* as() {
    return const_cast<Fact*>(std::as_const(*this).as<Fact>());
  }

  // Calls the visitor with the fact as its own type.
  template <typename Visitor>
  auto visit(Visitor&& visitor) const {
    return AllFacts::visit(which_, held(), visitor);
  }

 private:
  const void* held() const { return held_; }

  alignas(std::max_align_t) std::byte held_[AllFacts::kLargest];
  std::uint8_t which_;
};

}  // namespace redrive::queue
