#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "dead_letter/features.h"
#include "engine/clock_watch.h"
#include "engine/consumer_limit.h"
#include "engine/damage.h"
#include "engine/lineage.h"
#include "engine/notice.h"
#include "engine/peeked.h"
#include "engine/processed.h"
#include "engine/selection.h"
#include "engine/turn_times.h"
#include "engine/waiters.h"
#include "queue/handle_rules.h"
#include "queue/receipt_handle.h"
#include "queue/receive.h"
#include "queue/send.h"
#include "queue/state.h"
#include "store/message_codec.h"
#include "store/store.h"

namespace redrive::engine {

using journal::Sequence;

// One message as handed to a consumer: what memory knows of it. Its bytes are read later, outside
// the engine's turn.
struct Received {
  queue::ReceiptHandle handle;
  queue::BodyRef body;
  std::uint32_t receive_count = 0;
  Timestamp first_received_wall;
  std::uint64_t sequence = 0;      // FIFO.
  std::optional<Uuid> message_id;  // When not the one stored, like the next.
  Timestamp sent_wall;
  std::string dead_letter_source;  // ARN, or empty.
  bool dedup_is_message_id = false;
  queue::RetryCounts retries;
  queue::IsolationTerms isolation = {};  // Of receives that isolate retries.
};

// Keeps segments from being recycled while bodies are read from them.
class BodyPins {
 public:
  BodyPins() = default;
  explicit BodyPins(store::Store& store) : store_(&store) {}
  BodyPins(BodyPins&& other) noexcept : store_(other.store_), bodies_(std::move(other.bodies_)) {
    other.bodies_.clear();
  }
  BodyPins& operator=(BodyPins&&) = delete;
  ~BodyPins() {
    for (const auto& body : bodies_) store_->unpin(body);
  }
  void add(const queue::BodyRef& body) {
    // A pin is for all of a segment, and what is received together lies together.
    if (!bodies_.empty() && bodies_.back().segment == body.segment) return;
    store_->pin(body);
    bodies_.push_back(body);
  }
  bool empty() const { return bodies_.empty(); }

 private:
  store::Store* store_ = nullptr;
  std::vector<queue::BodyRef> bodies_;
};

struct ReceiveOutcome {
  std::vector<Received> messages;
  BodyPins pins;
  Sequence after = 0;  // The reply may leave when this is synced.
};

// Either an answer or a promise of one.
struct ReceiveStart {
  std::optional<Result<ReceiveOutcome>> answer;
  WaitId wait = 0;
};

// A message whose stored bytes are not what was written.
struct Unreadable {
  queue::MessageKey key;
  queue::BodyRef body;
  std::string error;
  // The receive that found out, as receipt handles count them: it may take away what it holds.
  std::optional<std::uint32_t> delivery = {};
};

struct PeekPage {
  std::vector<Peeked> messages;
  BodyPins pins;
  bool more = false;
  Timestamp wall;
};

struct SendResult {
  std::vector<queue::SendOutcome> outcomes;
  Sequence after = 0;
};

// A message on its way with others, and what became of it.
struct Parcel {
  queue::QueueKey to;
  queue::Draft draft;
  Result<queue::SendOutcome> outcome = {};
};

// What a plan would take.
struct Chosen {
  std::size_t candidates = 0;           // By place and group alone.
  std::size_t scanned = 0;              // Of those: looked into.
  std::size_t matched = 0;              // Of those: taken.
  std::vector<queue::MessageKey> keys;  // Of the first of these.
  bool complete = false;                // All have been looked at.
};

// Messages of a selection on their way through its filter and patch: gathered in turn, read and
// judged outside of it.
struct TaskReading {
  struct Candidate {
    queue::MessageKey key;
    queue::BodyRef body;
    KnownMessage known;
    std::string stored = {};  // Its bytes, for patches.
    std::string changed = {};
    Selection::Fit fit = Selection::Fit::no;
    std::string damage = {};  // What is wrong with it, when it is damaged.
  };

  queue::TaskKey task = queue::TaskKey::none;
  std::shared_ptr<const Sieve> sieve = {};
  std::vector<Candidate> candidates = {};
  std::optional<BodyPins> pins = {};  // Until they are read.
  std::size_t at = 0;                 // The next to be moved.
  bool done = false;                  // They have been read. Written in turn.
};

// A call that was asked for.
struct CallId {
  Timestamp when;
  std::uint64_t number = 0;
};

// Who does something to other people's messages, and why.
struct Signature {
  std::string_view actor;
  std::string_view reason;
};

// Other contents for a dead letter.
struct Edit {
  queue::MessageKey key;
  queue::BodyRef of;        // The bytes that the editor saw.
  std::string_view stored;  // The new ones, as store::message_codec lays them out.
  std::optional<queue::QueueIdentity> destination;  // Redriven there in the same step.
};

// A message as the holder of a receipt handle finds it.
struct Delivered {
  queue::MessageKey key{};
  queue::BodyRef body;
  std::string dead_letter_source;  // ARN, or empty.
};
struct DeliveredMessages {
  std::vector<Result<Delivered>> messages;  // One for each handle.
  BodyPins pins;
};

// A delivered message on its way into another queue.
struct Move {
  std::string_view handle;
  queue::QueueIdentity destination;
  queue::BodyRef of;        // The bytes that whoever moves it saw.
  std::string_view stored;  // Other contents, as store::message_codec lays them out; empty: as is.
  std::chrono::seconds delay{0};
};

// The same, with everything that is known of it.
struct HeldMessage {
  Peeked message;
  Uuid lineage;
};
struct HeldMessages {
  std::vector<Result<HeldMessage>> messages;  // One for each handle.
  BodyPins pins;
};

// A queue of the server's own, where what is discarded from `queue` rests.
inline queue::QueueIdentity bin_of(const queue::QueueIdentity& queue) {
  return {queue.account, queue.region, queue.name + std::string(queue::kBinSuffix)};
}
// A queue of the server's own for those messages of `queue` whose stored bytes cannot be read. What
// was discarded from a queue goes to the same place.
queue::QueueIdentity damaged_of(const queue::QueueIdentity& queue);
// A queue of the server's own for messages of `queue` that were processed after a redrive.
inline queue::QueueIdentity settled_of(const queue::QueueIdentity& queue) {
  return {queue.account, queue.region, queue.name + std::string(queue::kSettledSuffix)};
}
// How many messages that were processed after a redrive are kept, and for how long, so that they
// can still be found. Zero of either: none.
struct SettledLimits {
  std::size_t messages_max = 100'000;
  std::chrono::seconds retention = std::chrono::days(7);

  bool keep_any() const { return messages_max > 0 && retention > std::chrono::seconds(0); }
};
// How long damaged messages are kept, from the moment they were found.
inline constexpr std::chrono::seconds kDamagedRetention = std::chrono::days(14);
// How long discarded dead letters can be taken back.
inline constexpr std::chrono::seconds kBinRetention = std::chrono::days(7);

struct Ungrouped;

// A look at everything, and the right to change it, for as long as the engine's turn lasts.
class Turn {
 public:
  const queue::State& state() const { return store_.state(); }
  const queue::Stamp& stamp() const { return stamp_; }
  IdSource& ids() { return ids_; }
  // The queue, brought to this moment; an error when there is none.
  Result<queue::Queue*> queue(const queue::QueueIdentity& identity);
  Result<queue::Queue*> queue(queue::QueueKey key);
  // The bin of that queue, made when there is none yet.
  Result<queue::Queue*> bin(const queue::QueueIdentity& identity);
  // The queue that takes this queue's damaged messages, made when there is none yet.
  queue::Queue& damaged(const queue::QueueIdentity& identity);
  // The queue that keeps this queue's settled messages for that long, made when there is none yet.
  queue::Queue& settled(const queue::QueueIdentity& identity, std::chrono::seconds retention);
  void commit(std::span<queue::Change> changes);
  void commit(queue::Change change) { commit(std::span(&change, 1)); }
  // A text's index; a new one is added to `changes` and becomes known with them.
  queue::NameIndex name(std::string_view text, std::vector<queue::Change>& changes);

 private:
  friend class Engine;
  Turn(store::Store& store, IdSource& ids, queue::Stamp stamp,
       std::vector<queue::QueueKey>& touched, std::vector<Notice>* notices)
      : store_(store), ids_(ids), stamp_(stamp), touched_(touched), notices_(notices) {}
  void note(const queue::Change& change);
  void advance(queue::Queue& queue);
  queue::Queue* use(queue::Queue& queue);

  store::Store& store_;
  IdSource& ids_;
  queue::Stamp stamp_;
  std::vector<queue::QueueKey>& touched_;  // Queues in which something may have become receivable.
  std::vector<Notice>* notices_;           // None: nobody wants any.
  std::vector<queue::TaskKey> tasks_changed_;
  std::vector<queue::QueueKey> policies_changed_;
  bool queues_changed_ = false;
  std::size_t serves_left_ = 100;  // Waiting receives that may be tried before others have a turn.
  std::vector<std::pair<queue::QueueKey, queue::MessageKey>> dead_letters_;  // That came just now.
};

// A policy of the configuration, for queues by the patterns of their names.
struct PolicyRule {
  std::vector<std::string> queues;
  queue::DeadLetterPolicy policy;
};

// A message on its way into the archive.
struct ArchiveItem {
  std::string target;       // As the policy names it: bucket/prefix.
  std::string_view reason;  // Why it goes.
  std::string queue_arn;
  Peeked message;
  std::string stored;  // Its bytes.
  Timestamp wall;
};

// Runs operations one after another ("in turn"), stamps each with the time, records what it
// decides, wakes whoever waits for it, and drives everything that happens by time alone.
//
// The turn is a mutex: whoever has a request takes it for the microsecond that the rules need;
// reading bodies, hashing and encoding happen outside. Callbacks run after the turn, on the thread
// that caused them. A caller may send its reply when the journal has synced the sequence it was
// given ("after").
class Engine {
 public:
  struct Hooks {
    // armed() is earlier than it was. Called outside the turn.
    std::function<void()> wake_earlier;
    // Something was recorded that no caller is going to ask a sync for (waiters served, moves).
    std::function<void()> sync_wanted;
    // A line for the log.
    std::function<void(std::string)> log;
    // Something notable happened. Called outside the turn.
    std::function<void(const Notice&)> notice;
    // Keeps a message for good and says where; when it returns without an error, the message may
    // go. Called outside the turn. Empty: there is no archive.
    std::function<Result<std::string>(const ArchiveItem&)> archive;
    // Runs work that reads many bodies, on a thread that may take its time. Empty: on the thread
    // that ticks, outside the turn.
    std::function<void(std::function<void()>)> offload;
  };
  struct Parts {
    store::Store& store;
    journal::Journal& journal;
    const Clock& clock;
    IdSource& ids;
    // For dead-letter queues that have no policy of their own: the first that fits.
    std::vector<PolicyRule> policies = {};
    // Between turns of a move task without a rate: others come first. Zero where time stands still.
    Duration task_pause{1};
    // What to make of a wall clock that says the server was away for more than a day.
    JumpOptions jump = {};
    SettledLimits settled = {};
  };
  Engine(Parts parts, Hooks hooks);

  // Runs `work(Turn&)` in turn. Everything but the hot paths below is built on it.
  template <class Work>
  auto turn(Work work) {
    std::unique_lock lock = begin_turn();
    Turn here(store_, ids_, stamp(), touched_, hooks_.notice ? &notices_ : nullptr);
    struct AtEnd {
      Engine& engine;
      Turn& here;
      std::unique_lock<std::mutex>& lock;
      ~AtEnd() { engine.end_turn(here, lock); }
    } at_end{*this, here, lock};
    return work(here);
  }
  // Between two turns of work in slices: lets those go first who wait for the turn. A mutex alone
  // would give it to the thread that runs already.
  void give_way() const;
  // How long turns have held the engine so far.
  TurnTimes turn_times() const;
  // The most units of work (queue::State::work) that one turn has done since the last call.
  std::uint64_t take_most_work();
  // The sequence a reply made now has to wait for.
  Sequence appended() const { return journal_.appended(); }
  // Another number whenever a queue has changed its settings or is gone: until then, what was found
  // in a turn since may be used without one. No two engines of a process have the same.
  std::uint64_t queues_version() const { return queues_version_.load(std::memory_order_acquire); }

  Result<SendResult> send(const queue::QueueIdentity& queue, std::span<const queue::Draft> drafts);
  // The same for messages to different queues: one turn, one record. Each has its own outcome, and
  // is in its queue when appended() is synced.
  void send(std::span<Parcel> parcels);
  // Without a wait, or when something is there, the answer is in the result. Otherwise `done` is
  // called once, later; with an empty `done` nothing happens then, and the result holds neither
  // answer nor wait.
  ReceiveStart receive(const queue::QueueIdentity& queue, ReceiveRequest request,
                       std::optional<Duration> wait,
                       std::function<void(Result<ReceiveOutcome>)> done);
  // True if the wait had not ended: then `done` will not be called.
  bool cancel(WaitId wait);
  // Calls back at that moment of engine time, once, outside the turn, on the thread that ticks.
  CallId call_at(Timestamp when, std::function<void()> call);
  // True if the call had not begun: then it will not be made.
  bool cancel(const CallId& call);
  // One result for each handle. All in one record.
  Result<std::vector<Result<void>>> remove(const queue::QueueIdentity& queue,
                                           std::span<const std::string_view> handles);
  // The same by handles that need no proof, as they have never left the server.
  Result<std::vector<Result<void>>> remove_held(const queue::QueueIdentity& queue,
                                                std::span<const queue::ReceiptHandle> handles);
  // Takes messages from one queue by their handles and sends others to another, in one record:
  // either all of it happens or, with the first handle that is not valid any more, nothing.
  Result<SendResult> exchange(const queue::QueueIdentity& from,
                              std::span<const std::string_view> handles,
                              const queue::QueueIdentity& to, std::span<const queue::Draft> drafts);
  struct VisibilityRequest {
    std::string_view handle;
    std::chrono::seconds timeout;
    bool not_run = false;  // No handler has seen it: see queue::decide_return.
  };
  Result<std::vector<Result<void>>> change_visibility(const queue::QueueIdentity& queue,
                                                      std::span<const VisibilityRequest> requests);

  // A message's stored bytes, body.size of them, to `out`; for pinned bodies.
  Result<void> read_body(const queue::BodyRef& body, char* out) const {
    return store_.read(body, out);
  }
  // The same for all messages of an outcome, to one place after another. After an error any of them
  // may be missing.
  Result<void> read_bodies(const ReceiveOutcome& outcome, char* out) const;

  // A message's stored bytes, checked; views `bytes`. Not in turn; for pinned bodies. Whoever finds
  // damage (storage_damaged) has also had the message set aside, unless a consumer holds it.
  Result<store::StoredMessage> read_message(queue::MessageKey key, const queue::BodyRef& body,
                                            std::string& bytes);
  // The same for what a receive took: that delivery ends when the message is set aside.
  Result<store::StoredMessage> read_message(const Received& received, std::string& bytes);

  // A page of a queue's damaged messages, oldest first. For a queue of any name.
  Result<DamagedPage> damaged(const queue::QueueIdentity& queue,
                              const queue::Mailbox::AgeMark& after, std::size_t max);
  // How many each queue has, by the queue that they were in; only those that ever had one.
  std::map<queue::QueueIdentity, std::size_t> damaged_counts();
  // Forgets damaged messages for good; how many there were.
  Result<std::size_t> drop_damaged(const queue::QueueIdentity& queue,
                                   std::span<const queue::MessageKey> keys);
  // Reads damaged messages again. Those that are whole now, say because their file was restored
  // from a backup, go back to where they were; how many.
  Result<std::size_t> retry_damaged(const queue::QueueIdentity& queue,
                                    std::span<const queue::MessageKey> keys, const Signature& by);

  struct FailureReport {
    std::string_view handle;
    queue::ErrorText error;
    queue::Disposition disposition = queue::Disposition::none;
    Duration retry_after{0};
    std::optional<queue::RetryCounts> retries = {};  // To be kept with the message.
    std::uint16_t company = 0;                       // See queue::Attempt.
  };
  // The queue that a receipt handle is of; an error when it is not ours.
  Result<queue::QueueIdentity> queue_of_handle(std::string_view handle);
  // Records why a delivery failed, and does with the message what its consumer wants. Long texts
  // are cut.
  Result<void> report_failure(const queue::QueueIdentity& queue, FailureReport report);

  // Puts dead letters into failure groups, at most so many; how many are left.
  std::size_t group_dead_letters(std::size_t max);
  // Rules about groups, made by hand. Dead letters that are in a group now follow a new rule in
  // slices (apply_group_rules); those that come later follow it when they are grouped.
  //
  // All of one group belongs to another from now on. The number of the rule.
  Result<std::uint32_t> merge_groups(const queue::QueueIdentity& queue,
                                     const queue::State::GroupId& from,
                                     const queue::State::GroupId& into, const Signature& by);
  // What a filter chooses of a group is a group of its own from now on.
  struct SplitRule {
    std::uint32_t number = 0;
    queue::State::GroupId group{};
  };
  Result<SplitRule> split_group(const queue::QueueIdentity& queue,
                                const queue::State::GroupId& from, std::string_view filter,
                                std::string_view title, const Signature& by);
  // Later dead letters do not follow the rule any more; what it has moved stays where it is.
  Result<void> remove_group_rule(const queue::QueueIdentity& queue, std::uint32_t number);
  // Applies new rules to some of the messages that were there before; true while there is more.
  bool apply_group_rules();

  // Looks at a page of a queue's messages, oldest first, in any phase, and changes nothing.
  Result<PeekPage> peek(const queue::QueueIdentity& queue, const queue::Mailbox::AgeMark& after,
                        std::size_t max);
  // The same for any queue, hidden or not; an empty page when there is none.
  PeekPage peek_any(const queue::QueueIdentity& queue, const queue::Mailbox::AgeMark& after,
                    std::size_t max);
  // The same for what was discarded from the queue.
  Result<PeekPage> peek_bin(const queue::QueueIdentity& queue, const queue::Mailbox::AgeMark& after,
                            std::size_t max);
  // One message wherever it is, in a hidden queue or not; none when it is gone.
  PeekPage peek_key(queue::MessageKey key);
  // The MessageIds in use, or of first sends, that begin like this: at most `max` lineages of
  // messages in queues, bins and among settled ones. `prefix` in small letters, as Uuid::text has
  // it.
  std::vector<Uuid> lineages_like(std::string_view prefix, std::size_t max);
  // One message of a queue; none when it is not there.
  Result<PeekPage> peek_one(const queue::QueueIdentity& queue, queue::MessageKey key);

  // What a plan would take from a queue now: counts, and the keys of the first ones. Looks at
  // `scan_max` messages at most.
  Result<Chosen> choose(const queue::QueueIdentity& queue, queue::TaskPlan plan,
                        std::size_t scan_max, std::size_t keys_max);

  // The policy in force for a queue: its own, or that of the configuration.
  // None: nullptr. In turn.
  const queue::DeadLetterPolicy* policy_of(const queue::Queue& queue) const;
  // Puts messages that nobody holds into the queue's bin, or takes them back; how many there were.
  // Many are moved a few hundred at a time, each portion in one record.
  Result<std::size_t> discard(const queue::QueueIdentity& queue,
                              std::span<const queue::MessageKey> keys, const Signature& by);
  Result<std::size_t> restore(const queue::QueueIdentity& queue,
                              std::span<const queue::MessageKey> keys, const Signature& by);
  // Gives a message that nobody holds other contents, and redrives it if so wished, in one step.
  // The original stays in the bin, linked by its lineage.
  Result<void> edit(const queue::QueueIdentity& queue, const Edit& edit, const Signature& by);

  // A handler ran on a copy of a message: that stands in its history. The reason says which code
  // ran, and how it ended.
  Result<void> note_tried(const queue::QueueIdentity& queue, queue::MessageKey key,
                          const Signature& by);

  // What receipt handles are of.
  Result<DeliveredMessages> delivered(const queue::QueueIdentity& queue,
                                      std::span<const std::string_view> handles);
  // Moves messages for whoever received them. Each leaves this queue and enters the other in one
  // step, with other contents if so wished, and with its lineage, as a redrive does. Gives the new
  // message ids.
  Result<std::vector<Result<Uuid>>> move(const queue::QueueIdentity& queue,
                                         std::span<const Move> moves, const Signature& by);

  // Everything of the lineage that this MessageId belongs to: the first one it had, the one it has
  // now, or the one it had when it was archived.
  LineageFound find_lineage(const Uuid& id);
  // What receipt handles are of, with all there is to know.
  Result<HeldMessages> look_at_held(const queue::QueueIdentity& queue,
                                    std::span<const std::string_view> handles);
  // Messages leave their queue because whoever received them has put them into an archive. All in
  // one record; the last ArchivedLineages::kMax of them are remembered.
  Result<std::vector<Result<void>>> archive_held(const queue::QueueIdentity& queue,
                                                 std::span<const ArchivedByHolder> archived,
                                                 const Signature& by);
  // Takes messages back from an archive: each is sent to the queue, once, and its lineage goes on.
  Result<std::vector<Unarchived>> unarchive(const queue::QueueIdentity& queue,
                                            std::span<const Unarchive> messages,
                                            const Signature& by);

  // Does what is due by now: deadlines of waits, messages that become visible to somebody waiting,
  // move tasks. To be called when armed() comes; what is too much for one turn leaves that at once
  // due again.
  void tick();
  // Removes what has expired, and counts what was purged, in slices, so that a fact that depends on
  // these counts need not do it all in its turn.
  void catch_up();
  // The same for one queue; an error when there is none.
  Result<void> catch_up(const queue::QueueIdentity& queue);
  // One slice of background work; true while there is more. Not from several threads at once.
  Result<bool> maintain();
  // Counts what lately processed messages were like, as far as it has not been done.
  void count_processed();
  // What the messages were like that a queue's consumers processed.
  dead_letter::FeatureCounts processed(const queue::QueueIdentity& queue);
  // What some of a queue's dead letters are like: of one group, or of all.
  Result<dead_letter::FeatureCounts> dead_features(const queue::QueueIdentity& queue,
                                                   queue::FailureGroupKey group);

  // Shows up to `max` queues that come behind `after`, each brought to this moment, in one turn;
  // those of the server's own are left out. True while there are more; then `after` is the last.
  using Surveyor = std::function<void(const queue::State&, queue::Queue&, const queue::Stamp&)>;
  bool survey(queue::QueueIdentity& after, std::size_t max, const Surveyor& look);

  // Ends every wait with an empty answer; later ones end at once.
  void stop_waiting();
  // Brings every queue to this moment and records that it has come.
  void settle();
  // Forgets every queue, and that it ever was; who waits is told that its queue is gone. Returns
  // how many there were.
  std::size_t reset();

  Timestamp now() const;
  Timestamp wall() const { return clock_.wall(); }
  Timestamp armed() const;  // When the next tick is due.
  // Time away that is not counted yet, because the wall clock may be wrong; see ClockWatch.
  Duration held_time() const;
  // Counts it now. Returns how much it was.
  Duration accept_held_time();
  std::size_t waiting() const;

 private:
  friend class Turn;

  // What time alone does to messages in one turn, at most; see queue::State::grant.
  static constexpr std::size_t kStepsPerTurn = 1000;

  struct TaskRun {
    Timestamp since;          // Tokens are counted from here.
    std::uint64_t moved = 0;  // Since then.
    Timestamp next;
    Timestamp watched_since;  // Canary: when the last of the stage was moved.
    // What a plan takes, found out when it first runs; nothing: whatever is there.
    std::optional<Selection> selection;
    // Messages that were read to find out whether the plan is for them.
    std::shared_ptr<TaskReading> reading;
  };
  // Receives that one call took care of.
  struct Taken {
    ReceiveOutcome outcome;
    bool over_limit = false;
    bool unfinished = false;  // There may be more behind what was moved aside in this turn.
    std::size_t moved_aside = 0;
  };

  queue::Stamp stamp() const;
  std::unique_lock<std::mutex> begin_turn() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) wait_for_turn(lock);
    turn_began_ = TurnTimes::ticks();
    store_.state().grant(kStepsPerTurn);
    work_before_ = store_.state().work();
    return lock;
  }
  void wait_for_turn(std::unique_lock<std::mutex>& lock);
  void end_turn(Turn& turn, std::unique_lock<std::mutex>& lock);
  void serve_waiters(Turn& turn);
  void serve_queue(Turn& turn, queue::Queue& queue);
  void find_queues(std::span<const Parcel> parcels);
  void end_short_polls(queue::Queue& queue, bool over_limit);
  Result<ReceiveOutcome> nothing_received(queue::Queue& queue, bool over_limit);
  // Takes what a receive can have now.
  queue::NameIndex consumer_name(Turn& turn, std::string_view text);
  Taken take(Turn& turn, queue::Queue& queue, const ReceiveRequest& request);
  // Has the queue's waiting receives tried again in another turn.
  void resume(Turn& turn, queue::QueueKey queue);
  Received describe(const queue::Queue& queue, queue::MessageKey key) const;
  void tell_isolation(const queue::Queue& queue, std::span<Received> messages) const;
  void rearm(queue::QueueKey queue);
  // `decide` says what is to be recorded of the deletion with that number.
  template <class Decide>
  Result<std::vector<Result<void>>> remove_each(const queue::QueueIdentity& identity,
                                                std::size_t count, Decide decide);
  Timestamp next_wake() const;
  void look_at_clock();
  void move_time(Duration by);
  Notice away_notice() const;
  std::vector<std::function<void()>> take_calls(Timestamp now);
  void answer(std::function<void(Result<ReceiveOutcome>)> done, Result<ReceiveOutcome> outcome);
  ReceiveOutcome nothing_received() const;
  void run_tasks(Turn& turn);
  void run_task(Turn& turn, const queue::MoveTask& task);
  bool prepare_selection(Turn& turn, const queue::MoveTask& task, const queue::Queue& source,
                         TaskRun& run);
  void begin_reading(Turn& turn, const queue::Queue& source, queue::TaskKey task, TaskRun& run);
  TaskReading gather(Turn& turn, const queue::Queue& source, Selection& selection,
                     std::size_t max) const;
  void read(TaskReading& reading) const;
  queue::Slot next_read(Turn& turn, const queue::Queue& source, TaskRun& run,
                        TaskReading::Candidate*& found);
  void read_for_task(const std::shared_ptr<TaskReading>& reading);
  void start_reading(const std::shared_ptr<TaskReading>& reading);
  void note_task_wake();
  bool hold_back(Turn& turn, const queue::MoveTask& task, TaskRun& run);
  void halt(Turn& turn, const queue::MoveTask& task, std::string note);
  std::uint64_t quota_of(const queue::MoveTask& task, TaskRun& run, Timestamp now) const;
  std::uint32_t redrives_max(const queue::Queue& queue, const queue::TaskPlan& plan) const;
  void end_task(Turn& turn, queue::TaskKey task, queue::TaskStatus status,
                std::string_view failure);
  void group_some(Turn& turn, std::span<const Ungrouped> messages,
                  std::span<queue::GroupIdentity> identities, std::size_t& at,
                  std::uint64_t rules_version);
  void adopt_task(queue::TaskKey key, Timestamp now);
  bool sweep(Turn& turn);
  bool expire_some(Turn& turn);
  bool is_spent(const Turn& turn) const;
  struct PolicySchedule;
  void adopt_policy(Turn& turn, queue::QueueKey key);
  void scan_for_policies(Turn& turn, std::size_t max);
  PolicySchedule& schedule_of(const queue::Queue& queue, const queue::DeadLetterPolicy& policy);
  void rearm_schedule(queue::QueueKey queue, PolicySchedule& schedule);
  void retire_schedule(queue::QueueKey queue);
  void follow_policy(const queue::Queue& queue, queue::MessageKey key, const queue::Stamp& stamp);
  void run_policies(Turn& turn);
  // Moves messages that are damaged out of the way of others.
  void set_aside(Turn& turn, std::span<const Unreadable> found);
  void set_aside(const Unreadable& found);
  const queue::Queue* find_unreadable(Turn& turn, const Unreadable& one);
  bool examine_neighbours();
  bool apply_policy(Turn& turn, queue::Queue& queue, queue::Slot slot,
                    const queue::DeadLetterPolicy& policy);
  template <class MoveSome>
  Result<std::size_t> in_portions(std::span<const queue::MessageKey> keys, MoveSome move);
  void discard_spent(Turn& turn, const queue::Queue& queue, queue::MessageKey key);
  std::size_t archive_due();
  Result<std::string> archive(const ArchiveItem& item) const;
  void let_go_archived(queue::QueueKey queue, const ArchiveItem& item, std::string_view place);
  // Messages that an id may be of, and the lineages they really belong to.
  struct Suspects {
    std::vector<queue::MessageKey> keys;
    std::vector<Uuid> lineages;
  };
  Suspects suspects_of(const Uuid& id);
  LineagePlace look_at_archived(const queue::ArchivedLineage& archived) const;
  LineagePlace look_at_place(const queue::Queue& queue, queue::Slot slot, const Uuid& lineage,
                             const queue::Stamp& stamp) const;
  Unarchived unarchive_one(Turn& turn, queue::Queue& queue, const Unarchive& message,
                           const Signature& by);
  Peeked look(const queue::Queue& queue, queue::Slot slot, const queue::Stamp& stamp) const;
  PeekPage look_at(const queue::Queue& queue, std::span<const queue::Slot> slots,
                   const queue::Stamp& stamp);
  PeekPage look_at_page(const queue::Queue& queue, const queue::Mailbox::AgeMark& after,
                        std::size_t max, const queue::Stamp& stamp);
  void sample_processed(const queue::Queue& queue, queue::MessageKey key);
  // What to record of a message that a consumer has deleted; `sequence` is the last one given.
  queue::Change deletion_of(Turn& turn, const queue::Queue& queue,
                            const queue::MessageDeleted& deleted, std::uint64_t& sequence);
  bool trim_settled(Turn& turn);
  struct Regrouping;
  bool choose_regrouping(Turn& turn, Regrouping& work);
  void finish_regrouping(Turn& turn, const Regrouping& work);
  Result<std::uint32_t> add_group_rule(Turn& turn, const queue::Queue& queue, queue::GroupRule rule,
                                       const Signature& by);
  ProcessedCounts& processed_counts(queue::QueueKey key, const std::string& recorded);
  void record_processed();

  store::Store& store_;
  journal::Journal& journal_;
  const Clock& clock_;
  IdSource& ids_;
  const Duration task_pause_;
  const SettledLimits settled_;
  Hooks hooks_;

  // Engine time = engine_start_ + (steady - steady_start_). The start moves forward, in turn, when
  // time away is counted late.
  std::atomic<Timestamp> engine_start_;
  Timestamp steady_start_;

  std::atomic<std::uint64_t> queues_version_;  // Written in turn.

  mutable std::atomic<std::uint32_t> waiting_for_turn_ = 0;
  mutable std::mutex mutex_;  // The turn. Guards everything below, and the store.
  std::uint64_t turn_began_ = 0;
  std::uint64_t work_before_ = 0;
  std::uint64_t most_work_ = 0;
  TurnTimes turn_times_;
  Waiters waiters_;
  bool stopping_ = false;
  std::set<std::pair<Timestamp, queue::QueueKey>>
      queue_wakes_;  // Queues somebody waits on, by their next hidden message.
  std::unordered_map<queue::QueueKey, Timestamp> queue_wake_;
  std::set<queue::QueueKey> resumed_;  // Queues with receives to be tried again at once.
  Timestamp resume_at_ = kNever;       // Now, while something is left to be done in another turn.
  Timestamp armed_ = kNever;
  std::map<std::pair<Timestamp, std::uint64_t>, std::function<void()>> calls_;
  std::uint64_t last_call_ = 0;
  struct Answer {
    std::function<void(Result<ReceiveOutcome>)> done;
    Result<ReceiveOutcome> outcome;
  };
  std::vector<Answer> answers_;  // To be given after the turn, like the next.
  std::vector<Notice> notices_;
  std::map<queue::TaskKey, TaskRun> task_runs_;
  Timestamp task_wake_ = kNever;                       // The earliest `next` of them.
  std::vector<std::shared_ptr<TaskReading>> to_read_;  // To be started after the turn.
  queue::QueueIdentity swept_;
  Timestamp sweep_at_;
  Timestamp compact_at_;
  std::optional<ClockWatch> clock_watch_;
  Timestamp clock_look_at_;  // By the steady clock; for maintain() alone.
  // A dead letter for which a policy will do something.
  struct PolicyDue {
    Timestamp at;
    queue::MessageKey message;
    std::uint64_t place;  // Where it stood then: one that died again since has an entry of its own.

    friend auto operator<=>(const PolicyDue&, const PolicyDue&) = default;
  };
  using PolicyDues = std::set<PolicyDue>;
  // When the policy of one queue is to look at which of its dead letters.
  struct PolicySchedule {
    queue::DeadLetterPolicy policy;  // By which they were computed, like the next.
    std::chrono::seconds retention{};
    PolicyDues dues;
    Timestamp wake = kNever;  // Under which policy_wakes_ has it.
    // What stood in the queue before this place is still to be looked at, behind this mark.
    std::optional<queue::Mailbox::AgeMark> scanned;
    std::uint64_t scan_to = 0;
  };
  const std::vector<PolicyRule> policies_;
  std::map<queue::QueueKey, PolicySchedule> schedules_;
  std::set<std::pair<Timestamp, queue::QueueKey>> policy_wakes_;
  std::set<queue::QueueKey> policy_scans_;
  std::vector<PolicyDues> retired_dues_;  // To be freed outside the turn.
  struct ToArchive {
    queue::QueueKey queue;
    queue::MessageKey message;
    std::string_view reason;
  };
  std::deque<ToArchive> to_archive_;
  // Damage seldom comes alone: what else lies in a segment with damage is read, too.
  struct Examination {
    std::set<std::uint32_t> segments;
    queue::Slot slot = 0;
  };
  Examination examination_;
  std::set<std::uint32_t> suspect_segments_;  // To be examined next.
  std::mutex regroup_mutex_;                  // Taken before the turn, never within it.
  // How far the first rule that is not applied yet has come.
  struct RegroupPlace {
    queue::QueueKey queue{};
    std::uint32_t rule = 0;
    queue::Mailbox::AgeMark after{};
  };
  RegroupPlace regroup_place_;
  bool trim_settled_ = true;  // There may be more settled messages than are kept.
  ProcessedSamples samples_;
  std::unordered_map<queue::QueueKey, std::uint64_t> processed_seen_;
  std::vector<queue::QueueKey> queues_gone_;  // Of which processed_ is to forget.
  std::mutex processed_mutex_;                // Taken before the turn, never within it.
  std::map<queue::QueueKey, ProcessedCounts> processed_;
  ConsumerLimit consumer_limit_;
  std::vector<queue::Change> changes_;  // Reused by the hot paths, like the next.
  std::vector<queue::Queue*> parcel_queues_;
  std::vector<queue::QueueKey> touched_;
};

}  // namespace redrive::engine
