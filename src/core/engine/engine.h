#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
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
#include "base/mutex.h"
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
// Everything about dead letters is an Extension (src/dead_letters).
//
// The turn is a mutex, held for the microsecond that the rules need; bodies are read, hashed and
// encoded outside of it. Callbacks run after the turn, on the thread that caused them. A reply may
// be sent when the journal has synced the sequence that came with the result ("after").
class Engine {
 public:
  struct Hooks {
    // armed() is earlier than it was. Called outside the turn.
    std::function<void()> wake_earlier;
    // Something was recorded for which no caller requests a sync (waiters served, moves).
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
    // What to do when the wall clock says that the server was down for more than a day.
    JumpOptions jump = {};
  };
  Engine(Parts parts, Hooks hooks);

  // Registers a part that works on the engine's turns, for as long as both exist; at most
  // kExtensionsMax. They are called in this order.
  void attach(Extension& extension);
  void detach(Extension& extension);

  // Runs `work(Turn&)` in turn. Everything except the hot paths below is built on it.
  //
  // The analysis cannot follow the turn through `work` and AtEnd; functions that `work` calls, and
  // lambdas in here, say REQUIRES(mutex_).
  template <class Work>
  auto turn(Work work) NO_THREAD_SAFETY_ANALYSIS {
    begin_turn();
    Turn here(store_, ids_, stamp(), work_before_, touched_, hooks_.notice ? &notices_ : nullptr);
    struct AtEnd {
      Engine& engine;
      Turn& here;
      ~AtEnd() NO_THREAD_SAFETY_ANALYSIS { engine.end_turn(here); }
    } at_end{*this, here};
    return work(here);
  }
  // Between two slices of work: yields to threads that wait for the turn. The mutex alone would
  // favour the thread that is already running.
  void give_way() const;
  // For changes of the catalogue that depend on many documents, which are read in several turns:
  // only one at a time. Acquire it before the turn, never within it.
  std::unique_lock<Mutex> lock_catalogue() { return std::unique_lock(catalogue_mutex_); }
  // How long turns have held the engine so far.
  TurnTimes turn_times() const;
  // The most units of work (queue::State::work) that one turn has done since the last call.
  std::uint64_t take_most_work();
  // The sequence a reply made now has to wait for.
  Sequence appended() const { return journal_.appended(); }
  // Changes whenever a queue changes its settings or is removed: until then, queues found in an
  // earlier turn may be used without one. Unique within the process.
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
  // The same with handles that need no verification because they never left the server.
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

  // Does what is due: deadlines of waits, messages that become visible to waiting receives,
  // extensions. Call it at armed(); remaining work makes the next tick due at once.
  void tick();
  // Removes what has expired, and counts what was purged, in slices, so that a fact that depends on
  // these counts need not do it all in its turn.
  void catch_up();
  // The same for one queue; an error when there is none.
  Result<void> catch_up(const queue::QueueIdentity& queue);
  // One slice of background work; true while there is more. Not from several threads at once.
  Result<bool> maintain();
  // Visits up to `max` queues after `after`, each advanced to now, in one turn; hidden queues are
  // skipped. True while there are more; then `after` is the last one visited.
  using Surveyor = std::function<void(const queue::State&, queue::Queue&, const queue::Stamp&)>;
  bool survey(queue::QueueIdentity& after, std::size_t max, const Surveyor& look);

  // Ends every wait with an empty answer; later ones end at once.
  void stop_waiting();
  // Advances every queue to now and records the time.
  void settle();
  // Removes every queue; waiting receives end with an error. In slices: a crash in between leaves
  // some of the queues. Returns how many there were.
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
  // In turn.
  ProcessedSamples& processed_samples() NO_THREAD_SAFETY_ANALYSIS { return samples_; }
  void log(std::string line) const {
    if (hooks_.log) hooks_.log(std::move(line));
  }
  // Requests a sync when something was recorded since `before`.
  void sync_since(Sequence before) const {
    if (journal_.appended() != before && hooks_.sync_wanted) hooks_.sync_wanted();
  }

 private:
  static constexpr std::size_t kExtensionsMax = 8;

  // Limit for the effects of time in one turn; see queue::State::grant.
  static constexpr std::size_t kStepsPerTurn = 1000;

  // The result of one receive.
  struct Taken {
    ReceiveOutcome outcome;
    bool over_limit = false;
    bool unfinished = false;  // There may be more messages behind those moved aside in this turn.
    std::size_t moved_aside = 0;
  };

  queue::Stamp stamp() const;
  void begin_turn() ACQUIRE(mutex_) {
    if (!mutex_.try_lock()) wait_for_turn();
    turn_began_ = TurnTimes::ticks();
    store_.state().grant(kStepsPerTurn);
    work_before_ = store_.state().work();
  }
  void wait_for_turn() ACQUIRE(mutex_);
  void end_turn(Turn& turn) RELEASE(mutex_);
  void serve_waiters(Turn& turn) REQUIRES(mutex_);
  void serve_queue(Turn& turn, queue::Queue& queue) REQUIRES(mutex_);
  void find_queues(std::span<const Parcel> parcels) REQUIRES(mutex_);
  void end_waits(Turn& turn, queue::QueueKey queue) REQUIRES(mutex_);
  static bool may_answer(Turn& turn);
  void end_short_polls(Turn& turn, queue::Queue& queue, bool over_limit) REQUIRES(mutex_);
  void touch_resumed(Timestamp now) REQUIRES(mutex_);
  Result<ReceiveOutcome> nothing_received(queue::Queue& queue, bool over_limit);
  // Takes what a receive can have now.
  queue::NameIndex consumer_name(Turn& turn, std::string_view text) REQUIRES(mutex_);
  Taken take(Turn& turn, queue::Queue& queue, const ReceiveRequest& request) REQUIRES(mutex_);
  // Retries the queue's waiting receives in another turn.
  void resume(Turn& turn, queue::QueueKey queue) REQUIRES(mutex_);
  Received describe(const queue::Queue& queue, queue::MessageKey key) const;
  void tell_isolation(const queue::Queue& queue, std::span<Received> messages) const;
  void rearm(queue::QueueKey queue) REQUIRES(mutex_);
  // `decide` returns the fact for the deletion with that number.
  template <class Decide>
  Result<std::vector<Result<void>>> remove_each(const queue::QueueIdentity& identity,
                                                std::size_t count, Decide decide);
  Timestamp next_wake() const REQUIRES(mutex_);
  void look_at_clock();
  void move_time(Duration by);
  Notice away_notice() const REQUIRES(mutex_);
  std::vector<std::function<void()>> take_calls(Timestamp now) REQUIRES(mutex_);
  void answer(std::function<void(Result<ReceiveOutcome>)> done, Result<ReceiveOutcome> outcome)
      REQUIRES(mutex_);
  ReceiveOutcome nothing_received() const;
  bool sweep(Turn& turn) REQUIRES(mutex_);
  bool expire_some(Turn& turn) REQUIRES(mutex_);
  void free_remains();
  bool reset_some(Turn& turn, std::size_t& queues) REQUIRES(mutex_);
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

  Mutex catalogue_mutex_;
  mutable std::atomic<std::uint32_t> waiting_for_turn_ = 0;
  mutable Mutex mutex_;  // The turn. Guards everything below, and the store.
  std::uint64_t turn_began_ GUARDED_BY(mutex_) = 0;
  std::uint64_t work_before_ GUARDED_BY(mutex_) = 0;
  std::uint64_t most_work_ GUARDED_BY(mutex_) = 0;
  TurnTimes turn_times_ GUARDED_BY(mutex_);
  std::vector<Extension*> extensions_;
  std::array<Timestamp, kExtensionsMax> extension_wakes_ GUARDED_BY(mutex_);  // In the same order.
  Waiters waiters_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::set<std::pair<Timestamp, queue::QueueKey>> queue_wakes_
      GUARDED_BY(mutex_);  // Queues with waiting receives, by their next hidden message.
  std::unordered_map<queue::QueueKey, Timestamp> queue_wake_ GUARDED_BY(mutex_);
  std::set<queue::QueueKey> resumed_
      GUARDED_BY(mutex_);  // Queues with receives to be tried again at once.
  queue::QueueKey last_resumed_ GUARDED_BY(mutex_){};  // The one that was tried last.
  Timestamp resume_at_ GUARDED_BY(mutex_) =
      kNever;  // Now, while there is work left for another turn.
  Timestamp armed_ GUARDED_BY(mutex_) = kNever;
  std::map<std::pair<Timestamp, std::uint64_t>, std::function<void()>> calls_ GUARDED_BY(mutex_);
  std::uint64_t last_call_ GUARDED_BY(mutex_) = 0;
  struct Answer {
    std::function<void(Result<ReceiveOutcome>)> done;
    Result<ReceiveOutcome> outcome;
  };
  std::vector<Answer> answers_ GUARDED_BY(mutex_);  // Delivered after the turn, like the next.
  std::vector<Notice> notices_ GUARDED_BY(mutex_);
  queue::QueueIdentity swept_ GUARDED_BY(mutex_);
  Timestamp sweep_at_ GUARDED_BY(mutex_);
  Timestamp compact_at_ GUARDED_BY(mutex_);
  std::optional<ClockWatch> clock_watch_ GUARDED_BY(mutex_);
  Timestamp clock_look_at_;  // By the steady clock; for maintain() alone.
  ProcessedSamples samples_ GUARDED_BY(mutex_);
  ConsumerLimit consumer_limit_ GUARDED_BY(mutex_);
  std::vector<queue::Change> changes_
      GUARDED_BY(mutex_);  // Reused by the hot paths, like the next.
  std::vector<queue::Queue*> parcel_queues_ GUARDED_BY(mutex_);
  std::vector<queue::QueueKey> touched_ GUARDED_BY(mutex_);
};

}  // namespace redrive::engine
