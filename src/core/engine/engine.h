#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
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
#include "core/engine/clock_watch.h"
#include "core/engine/consumer_limit.h"
#include "core/engine/extension.h"
#include "core/engine/notice.h"
#include "core/engine/processed_samples.h"
#include "core/engine/received.h"
#include "core/engine/turn.h"
#include "core/engine/turn_times.h"
#include "core/engine/waiters.h"
#include "core/queue/handle_rules.h"
#include "core/queue/receipt_handle.h"
#include "core/queue/receive.h"
#include "core/queue/send.h"
#include "core/queue/state.h"
#include "core/store/message_codec.h"
#include "core/store/store.h"

namespace redrive::engine {

// Runs operations one after another ("in turn"), stamps each with the time, records what it
// decides, serves the receives that wait, and drives everything that happens by time alone.
// Whatever concerns dead letters is an Extension (src/dead_letters).
//
// The turn is a mutex, held for the microsecond that the rules need; bodies are read, hashed and
// encoded outside of it. Callbacks run after the turn, on the thread that caused them. A reply may
// be sent when the journal has synced the sequence that came with the result ("after").
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
  };
  struct Parts {
    store::Store& store;
    journal::Journal& journal;
    const Clock& clock;
    IdSource& ids;
    // What to make of a wall clock that says the server was away for more than a day.
    JumpOptions jump = {};
  };
  Engine(Parts parts, Hooks hooks);

  // Registers a part that works on the engine's turns, for as long as both exist; at most
  // kExtensionsMax. They are called in this order.
  void attach(Extension& extension);
  void detach(Extension& extension);

  // Runs `work(Turn&)` in turn. Everything but the hot paths below is built on it.
  template <class Work>
  auto turn(Work work) {
    std::unique_lock lock = begin_turn();
    Turn here(store_, ids_, stamp(), work_before_, touched_, hooks_.notice ? &notices_ : nullptr);
    struct AtEnd {
      Engine& engine;
      Turn& here;
      std::unique_lock<std::mutex>& lock;
      ~AtEnd() { engine.end_turn(here, lock); }
    } at_end{*this, here, lock};
    return work(here);
  }
  // Between two slices of work: yields to threads that wait for the turn. The mutex alone would
  // favour the thread that is already running.
  void give_way() const;
  // For changes of the catalogue that depend on many of its documents, which are looked at in
  // several turns: only one at a time. To be taken before the turn, never within it.
  std::unique_lock<std::mutex> lock_catalogue() { return std::unique_lock(catalogue_mutex_); }
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

  // A message's stored bytes, checked; views `bytes`. Not in turn; for pinned bodies. A damaged
  // message (storage_damaged) is also reported to extensions, which set it aside.
  Result<store::StoredMessage> read_message(queue::MessageKey key, const queue::BodyRef& body,
                                            std::string& bytes);
  // The same for what a receive took: that delivery ends when the message is set aside.
  Result<store::StoredMessage> read_message(const Received& received, std::string& bytes);

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

  // Does what is due by now: deadlines of waits, messages that become visible to waiting receives,
  // extensions. To be called at armed(); work left over makes the next tick due at once.
  void tick();
  // Removes what has expired, and counts what was purged, in slices, so that a fact that depends on
  // these counts need not do it all in its turn.
  void catch_up();
  // The same for one queue; an error when there is none.
  Result<void> catch_up(const queue::QueueIdentity& queue);
  // One slice of background work; true while there is more. Not from several threads at once.
  Result<bool> maintain();
  // Shows up to `max` queues that come behind `after`, each brought to this moment, in one turn;
  // those of the server's own are left out. True while there are more; then `after` is the last.
  using Surveyor = std::function<void(const queue::State&, queue::Queue&, const queue::Stamp&)>;
  bool survey(queue::QueueIdentity& after, std::size_t max, const Surveyor& look);

  // Ends every wait with an empty answer; later ones end at once.
  void stop_waiting();
  // Brings every queue to this moment and records that it has come.
  void settle();
  // Forgets every queue, and that it ever was; receives that wait end with an error. In portions:
  // a crash in between leaves some of the queues. Returns how many there were.
  std::size_t reset();

  Timestamp now() const;
  Timestamp wall() const { return clock_.wall(); }
  Timestamp armed() const;  // When the next tick is due.
  // Time away that is not counted yet, because the wall clock may be wrong; see ClockWatch.
  Duration held_time() const;
  // Counts it now. Returns how much it was.
  Duration accept_held_time();
  std::size_t waiting() const;

  // For extensions.
  //
  // In turn, unless a function of the store says otherwise.
  store::Store& store() { return store_; }
  const journal::Journal& journal() const { return journal_; }
  // An error when the disk of the journal is full: nothing that needs much space is recorded then.
  Result<void> check_space() const;
  ProcessedSamples& processed_samples() { return samples_; }  // In turn.
  void log(std::string line) const {
    if (hooks_.log) hooks_.log(std::move(line));
  }
  // Requests a sync when something was recorded since `before`.
  void sync_since(Sequence before) const {
    if (journal_.appended() != before && hooks_.sync_wanted) hooks_.sync_wanted();
  }

 private:
  static constexpr std::size_t kExtensionsMax = 8;

  // What time alone does to messages in one turn, at most; see queue::State::grant.
  static constexpr std::size_t kStepsPerTurn = 1000;

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
  void end_waits(Turn& turn, queue::QueueKey queue);
  static bool may_answer(Turn& turn);
  void end_short_polls(Turn& turn, queue::Queue& queue, bool over_limit);
  void touch_resumed(Timestamp now);
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
  bool sweep(Turn& turn);
  bool expire_some(Turn& turn);
  void free_remains();
  bool reset_some(Turn& turn, std::size_t& queues);
  void relocate(std::vector<store::Store::Relocation> relocations);
  void found_damage(const Unreadable& found);

  store::Store& store_;
  journal::Journal& journal_;
  const Clock& clock_;
  IdSource& ids_;
  Hooks hooks_;

  // Engine time = engine_start_ + (steady - steady_start_). The start moves forward, in turn, when
  // time away is counted late.
  std::atomic<Timestamp> engine_start_;
  Timestamp steady_start_;

  std::atomic<std::uint64_t> queues_version_;  // Written in turn.

  std::mutex catalogue_mutex_;
  mutable std::atomic<std::uint32_t> waiting_for_turn_ = 0;
  mutable std::mutex mutex_;  // The turn. Guards everything below, and the store.
  std::uint64_t turn_began_ = 0;
  std::uint64_t work_before_ = 0;
  std::uint64_t most_work_ = 0;
  TurnTimes turn_times_;
  std::vector<Extension*> extensions_;
  std::array<Timestamp, kExtensionsMax> extension_wakes_;  // In the same order.
  Waiters waiters_;
  bool stopping_ = false;
  std::set<std::pair<Timestamp, queue::QueueKey>>
      queue_wakes_;  // Queues with waiting receives, by their next hidden message.
  std::unordered_map<queue::QueueKey, Timestamp> queue_wake_;
  std::set<queue::QueueKey> resumed_;  // Queues with receives to be tried again at once.
  queue::QueueKey last_resumed_{};     // The one that was tried last.
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
  queue::QueueIdentity swept_;
  Timestamp sweep_at_;
  Timestamp compact_at_;
  std::optional<ClockWatch> clock_watch_;
  Timestamp clock_look_at_;  // By the steady clock; for maintain() alone.
  ProcessedSamples samples_;
  ConsumerLimit consumer_limit_;
  std::vector<queue::Change> changes_;  // Reused by the hot paths, like the next.
  std::vector<queue::Queue*> parcel_queues_;
  std::vector<queue::QueueKey> touched_;
};

}  // namespace redrive::engine
