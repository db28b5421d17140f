#include "core/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <ranges>
#include <thread>
#include <utility>

#include "core/engine/next_arrival.h"
#include "core/queue/handle_rules.h"
#include "core/queue/receive.h"

namespace redrive::engine {
namespace {

using queue::Change;
using queue::Queue;
using queue::QueueIdentity;
using queue::Slot;
using queue::Stamp;

constexpr Duration kSweepInterval{1000};
constexpr std::size_t kSweepQueues = 256;
constexpr Duration kCompactInterval{1000};
constexpr std::size_t kCallsPerTurn = 256;
constexpr std::size_t kQueuesWokenPerTurn = 64;
constexpr int kGiveWayMax = 50;
constexpr std::chrono::microseconds kGiveWayFor{20};

std::unexpected<Error> no_such_queue() {
  return fail(ErrorCode::queue_does_not_exist, "The specified queue does not exist.");
}

std::uint64_t new_version() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// The message that the fact of a deletion is about.
queue::MessageKey deleted_key(const Change& change) {
  const auto* settled = change.as<queue::MessageSettled>();
  return settled != nullptr ? settled->key : change.as<queue::MessageDeleted>()->key;
}

bool was_redriven(const queue::State& state, Slot slot) {
  const queue::History* history = state.messages().history_if(slot);
  return history != nullptr && history->redrives > 0;
}

void count_sent(Queue& queue, std::span<const queue::Draft> drafts,
                std::span<const queue::SendOutcome> outcomes) {
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (outcomes[i].duplicate) {
      ++queue.traffic.deduplicated;
    } else {
      queue.traffic.count_sent(drafts[i].bytes);
    }
  }
}

}  // namespace

Engine::Engine(Parts parts, Hooks hooks)
    : store_(parts.store),
      journal_(parts.journal),
      clock_(parts.clock),
      ids_(parts.ids),
      hooks_(std::move(hooks)),
      queues_version_(new_version()) {
  extension_wakes_.fill(kNever);
  // Engine time continues from the journal's last stamp, plus the downtime as far as the wall clock
  // can be trusted (ClockWatch).
  const Stamp last = store_.last_stamp();
  const Timestamp wall = clock_.wall();
  steady_start_ = clock_.steady();
  clock_watch_.emplace(parts.jump, last, ClockWatch::Reading{wall, steady_start_});
  engine_start_ = last.now == Timestamp() ? wall : last.now + clock_watch_->counted();
  UniqueMutexLock lock(mutex_);
  for (const auto& [identity, queue] : store_.state().queues()) queue->traffic = {};
  if (!store_.state().started()) {
    Change started = queue::ServerStarted{ids_.secret()};
    store_.commit(stamp(), std::span(&started, 1));
  }
  lock.unlock();
  if (clock_watch_->away() > ClockWatch::kUnsuspectedMax && hooks_.notice) {
    hooks_.notice(away_notice());
  }
}

// No turn ends here: the next turn updates armed().
void Engine::attach(Extension& extension) {
  const MutexLock lock(mutex_);
  assert(extensions_.size() < kExtensionsMax);
  extension.wake_ = &extension_wakes_[extensions_.size()];
  extensions_.push_back(&extension);
  Turn first(store_, ids_, stamp(), store_.state().work(), touched_, nullptr);
  extension.start(first);
}

// The slots after it move up.
void Engine::detach(Extension& extension) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find(extensions_, &extension);
  assert(found != extensions_.end());
  const auto at = static_cast<std::size_t>(found - extensions_.begin());
  extension.wake_ = &extension.detached_;
  extensions_.erase(found);
  for (std::size_t i = at; i < extensions_.size(); ++i) {
    extension_wakes_[i] = extension_wakes_[i + 1];
    extensions_[i]->wake_ = &extension_wakes_[i];
  }
  extension_wakes_[extensions_.size()] = kNever;
}

void Engine::wait_for_turn() {
  waiting_for_turn_.fetch_add(1, std::memory_order_relaxed);
  mutex_.lock();
  waiting_for_turn_.fetch_sub(1, std::memory_order_relaxed);
}

void Engine::give_way() const {
  for (int i = 0; i < kGiveWayMax && waiting_for_turn_.load(std::memory_order_relaxed) > 0; ++i) {
    std::this_thread::sleep_for(kGiveWayFor);
  }
}

TurnTimes Engine::turn_times() const {
  MutexLock lock(mutex_);
  return turn_times_;
}

std::uint64_t Engine::take_most_work() {
  MutexLock lock(mutex_);
  return std::exchange(most_work_, 0);
}

Timestamp Engine::now() const {
  return engine_start_.load(std::memory_order_relaxed) + (clock_.steady() - steady_start_);
}

Stamp Engine::stamp() const {
  return {.now = now(), .wall = clock_.wall()};
}

Timestamp Engine::armed() const {
  MutexLock lock(mutex_);
  return armed_;
}

std::size_t Engine::waiting() const {
  MutexLock lock(mutex_);
  return waiters_.size();
}

void Engine::end_turn(Turn& turn) {
  serve_waiters(turn);
  if (turn.queues_changed_) queues_version_.store(new_version(), std::memory_order_release);
  if (turn.noted_.any()) {
    for (Extension* const extension : extensions_) extension->noted(turn, turn.noted_);
  }
  const Timestamp wake = next_wake();
  const bool earlier = wake < armed_;
  if (earlier) armed_ = wake;
  std::vector<Answer> answers;
  answers.swap(answers_);
  std::vector<Notice> notices;
  notices.swap(notices_);
  most_work_ = std::max(most_work_, store_.state().work() - work_before_);
  turn_times_.add(TurnTimes::ticks() - turn_began_);
  mutex_.unlock();
  for (const Notice& notice : notices) hooks_.notice(notice);
  for (Answer& answer : answers) answer.done(std::move(answer.outcome));
  if (earlier && hooks_.wake_earlier) hooks_.wake_earlier();
}

void Engine::serve_waiters(Turn& turn) {
  // Serving one queue may put dead letters into another: the list grows while it is walked.
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const queue::QueueKey key = touched_[i];
    if (!waiters_.any(key) || resumed_.contains(key)) continue;
    Queue* queue = store_.state().find(key);
    if (queue == nullptr) {
      end_waits(turn, key);
    } else {
      serve_queue(turn, *queue);
    }
    rearm(key);
  }
  touched_.clear();
}

// The queue is gone.
void Engine::end_waits(Turn& turn, queue::QueueKey key) {
  while (auto* waiter = waiters_.first(key)) {
    if (!may_answer(turn)) return resume(turn, key);
    answer(waiters_.take(waiter->id)->done, no_such_queue());
  }
}

// Whether this turn may answer one more waiting receive with nothing; if so, counts it.
bool Engine::may_answer(Turn& turn) {
  if (turn.empty_answers_left_ == 0) return false;
  --turn.empty_answers_left_;
  turn.state().count_work(1);
  return true;
}

void Engine::serve_queue(Turn& turn, Queue& queue) {
  bool over_limit = false;
  while (auto* waiter = waiters_.first(queue.key)) {
    // Each time: a message received with a timeout of zero is visible for the next waiter.
    store_.state().advance(queue, turn.stamp().now);
    const bool late = store_.state().is_late(queue, turn.stamp().now);
    if (store_.state().mailbox(queue).visible() == 0 && !late) break;
    if (turn.serves_left_ == 0) return resume(turn, queue.key);
    Taken taken = take(turn, queue, waiter->request);
    turn.serves_left_ -= std::min(turn.serves_left_, 1 + taken.moved_aside / 10);
    if (taken.unfinished) return resume(turn, queue.key);
    over_limit = taken.over_limit;
    if (taken.outcome.messages.empty()) break;
    answer(waiters_.take(waiter->id)->done, std::move(taken.outcome));
  }
  end_short_polls(turn, queue, over_limit);
}

// There is nothing for them.
void Engine::end_short_polls(Turn& turn, Queue& queue, bool over_limit) {
  while (waiters_.any_short_poll(queue.key)) {
    if (!may_answer(turn)) return resume(turn, queue.key);
    auto waiter = waiters_.take_short_poll(queue.key);
    answer(std::move(waiter->done), nothing_received(queue, over_limit));
  }
}

Result<ReceiveOutcome> Engine::nothing_received(Queue& queue, bool over_limit) {
  ++queue.traffic.empty_receives;
  if (!over_limit || queue.settings.is_fifo()) return nothing_received();
  return fail(ErrorCode::over_limit,
              "Too many messages in flight: the limit of a queue is 120000.");
}

void Engine::resume(Turn& turn, queue::QueueKey queue) {
  resumed_.insert(queue);
  resume_at_ = turn.stamp().now;
}

void Engine::answer(std::function<void(Result<ReceiveOutcome>)> done,
                    Result<ReceiveOutcome> outcome) {
  answers_.push_back({std::move(done), std::move(outcome)});
}

void Engine::rearm(queue::QueueKey key) {
  const Queue* queue = waiters_.any(key) ? store_.state().find(key) : nullptr;
  const Timestamp at = queue == nullptr ? kNever : next_arrival(store_.state(), *queue);
  const auto armed = queue_wake_.find(key);
  const Timestamp before = armed == queue_wake_.end() ? kNever : armed->second;
  if (at == before) return;
  if (before != kNever) queue_wakes_.erase({before, key});
  if (at == kNever) {
    queue_wake_.erase(key);
  } else {
    queue_wakes_.insert({at, key});
    queue_wake_[key] = at;
  }
}

Timestamp Engine::next_wake() const {
  Timestamp wake = waiters_.next_deadline();
  wake = std::min(wake, resume_at_);
  if (!queue_wakes_.empty()) wake = std::min(wake, queue_wakes_.begin()->first);
  for (const Timestamp at : extension_wakes_) wake = std::min(wake, at);
  if (!calls_.empty()) wake = std::min(wake, calls_.begin()->first.first);
  return wake;
}

CallId Engine::call_at(Timestamp when, std::function<void()> call) {
  return turn([&](Turn&) REQUIRES(mutex_) {
    calls_.emplace(std::pair(when, ++last_call_), std::move(call));
    return CallId{when, last_call_};
  });
}

bool Engine::cancel(const CallId& id) {
  MutexLock lock(mutex_);
  return calls_.erase({id.when, id.number}) > 0;
}

std::vector<std::function<void()>> Engine::take_calls(Timestamp now) {
  std::vector<std::function<void()>> due;
  while (!calls_.empty() && calls_.begin()->first.first <= now && due.size() < kCallsPerTurn) {
    due.push_back(std::move(calls_.begin()->second));
    calls_.erase(calls_.begin());
  }
  return due;
}

Result<void> Engine::check_space() const {
  if (journal_.has_room()) return {};
  return fail(ErrorCode::service_unavailable,
              "The disk of the journal is full. Receiving and deleting still work; sending resumes "
              "when there is space.");
}

Result<SendResult> Engine::send(const QueueIdentity& identity,
                                std::span<const queue::Draft> drafts) {
  RETURN_IF_ERROR(check_space());
  return turn([&](Turn& turn) REQUIRES(mutex_) -> Result<SendResult> {
    Queue& queue = *TRY(turn.queue(identity));
    SendResult result;
    result.outcomes.resize(drafts.size());
    changes_.clear();
    queue::decide_send(turn.state(), queue, drafts, turn.stamp(), ids_, changes_, result.outcomes);
    if (!changes_.empty()) turn.commit(changes_);
    count_sent(queue, drafts, result.outcomes);
    result.after = journal_.appended();
    return result;
  });
}

void Engine::send(std::span<Parcel> parcels) {
  if (const auto room = check_space(); !room) {
    for (Parcel& parcel : parcels) parcel.outcome = std::unexpected(room.error());
    return;
  }
  turn([&](Turn& turn) REQUIRES(mutex_) {
    changes_.clear();
    find_queues(parcels);
    const Queue* before = nullptr;
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      Parcel& parcel = parcels[i];
      Queue* const queue = parcel_queues_[i];
      if (queue == nullptr) {
        parcel.outcome = no_such_queue();
        continue;
      }
      if (queue != before) turn.use(*queue);
      before = queue;
      const std::span draft(&parcel.draft, 1);
      const std::span outcome(&*parcel.outcome, 1);
      queue::decide_send(turn.state(), *queue, draft, turn.stamp(), ids_, changes_, outcome);
      count_sent(*queue, draft, outcome);
    }
    if (!changes_.empty()) turn.commit(changes_);
  });
}

// The queue of each parcel. With many queues their data is not in the processor's caches, so all of
// it is prefetched before it is used.
void Engine::find_queues(std::span<const Parcel> parcels) {
  parcel_queues_.clear();
  bool several = false;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const bool same = i > 0 && parcels[i].to == parcels[i - 1].to;
    several |= i > 0 && !same;
    parcel_queues_.push_back(same ? parcel_queues_.back() : store_.state().find(parcels[i].to));
  }
  if (several) store_.state().prefetch_queues(parcel_queues_);
}

queue::NameIndex Engine::consumer_name(Turn& turn, std::string_view text) {
  const auto known = turn.state().find_name(text);
  if (known != queue::NameIndex::none) return known;
  return turn.name(consumer_limit_.choose(text, turn.stamp().now), changes_);
}

Engine::Taken Engine::take(Turn& turn, Queue& queue, const ReceiveRequest& request) {
  Taken taken{.outcome = {.messages = {}, .pins = BodyPins(store_), .after = 0}};
  if (queue.is_behind()) {
    taken.unfinished = true;
    return taken;
  }
  ReceiveOutcome& outcome = taken.outcome;
  changes_.clear();
  // Most receives find nothing: they need no name.
  const bool empty = store_.state().mailbox(queue).visible() == 0 && request.attempt_id.empty();
  const queue::NameIndex by =
      empty ? queue::NameIndex::none : consumer_name(turn, request.consumer);
  const queue::ReceiveDecision decision = queue::decide_receive(
      store_.state(),
      queue,
      {.max = request.max,
       .visibility = request.visibility.value_or(queue.settings.visibility_timeout),
       .by = by,
       .attempt_id = request.attempt_id,
       .isolated = request.isolated},
      turn.stamp());
  for (const auto& dead : decision.dead_lettered) changes_.push_back(dead);
  if (decision.received.count > 0) changes_.push_back(decision.received);
  if (decision.repeated.count > 0) changes_.push_back(decision.repeated);
  taken.over_limit = decision.in_flight_limit_reached;
  if (decision.delivered() > 0 || !decision.dead_lettered.empty()) turn.commit(changes_);
  outcome.messages.reserve(decision.delivered());
  for (std::size_t i = 0; i < decision.received.count; ++i) {
    outcome.messages.push_back(describe(queue, decision.received.keys[i]));
  }
  if (decision.received.isolated) tell_isolation(queue, outcome.messages);
  for (std::size_t i = 0; i < decision.repeated.count; ++i) {
    outcome.messages.push_back(describe(queue, decision.repeated.keys[i]));
  }
  taken.moved_aside = decision.dead_lettered.size();
  const bool more = decision.dead_lettered.size() == queue::kDeadLettersPerReceive ||
                    store_.state().is_late(queue, turn.stamp().now);
  taken.unfinished = decision.delivered() == 0 && more && !taken.over_limit;
  queue.traffic.received += outcome.messages.size();
  for (const Received& message : outcome.messages) outcome.pins.add(message.body);
  outcome.after = journal_.appended();
  return taken;
}

Received Engine::describe(const Queue& queue, queue::MessageKey key) const {
  const auto& state = store_.state();
  const Slot slot = state.find_message(queue, key);
  assert(slot != queue::kNoSlot);
  const queue::Message& message = state.messages()[slot];
  const queue::History& history = *state.messages().history_if(slot);
  Received received{.handle = {queue.key, key, state.generation(slot)},
                    .body = message.body,
                    .receive_count = message.receive_count,
                    .first_received_wall = history.first_received_wall,
                    .sequence = history.sequence != 0 ? history.sequence : number(key),
                    .message_id = history.message_id,
                    .sent_wall = history.sent_wall,
                    .dead_letter_source = {},
                    .dedup_is_message_id = history.dedup_is_message_id,
                    .retries = history.retries};
  if (history.dead_letter_source != queue::NameIndex::none) {
    received.dead_letter_source = state.name(history.dead_letter_source);
  }
  return received;
}

void Engine::tell_isolation(const Queue& queue, std::span<Received> messages) const {
  for (Received& message : messages) {
    const Slot slot = store_.state().find_message(queue, message.handle.key);
    message.isolation = queue::isolation_terms(store_.state(), queue, slot);
  }
}

Result<void> Engine::read_bodies(const ReceiveOutcome& outcome, char* out) const {
  std::vector<journal::Journal::Wanted> wanted;
  wanted.reserve(outcome.messages.size());
  for (const Received& message : outcome.messages) {
    wanted.push_back({{message.body.segment, message.body.offset}, message.body.size, out});
    out += message.body.size;
  }
  return store_.read_many(wanted);
}

ReceiveStart Engine::receive(const QueueIdentity& identity, ReceiveRequest request,
                             std::optional<Duration> wait,
                             std::function<void(Result<ReceiveOutcome>)> done) {
  return turn([&](Turn& turn) REQUIRES(mutex_) -> ReceiveStart {
    const auto found = turn.queue(identity);
    if (!found) return {.answer = std::unexpected(found.error())};
    Queue& queue = **found;
    Taken taken = take(turn, queue, request);
    const Duration patience = wait.value_or(queue.settings.receive_wait);
    if (!taken.outcome.messages.empty() || stopping_) return {.answer = std::move(taken.outcome)};
    const bool short_poll = patience <= Duration::zero();
    if (short_poll && !taken.unfinished) {
      return {.answer = nothing_received(queue, taken.over_limit)};
    }
    if (!done) return {};  // The caller will call again, ready to wait.
    if (taken.unfinished) resume(turn, queue.key);
    const WaitId id =
        short_poll
            ? waiters_.add_short_poll(queue.key, std::move(request), std::move(done))
            : waiters_.add(
                  queue.key, turn.stamp().now + patience, std::move(request), std::move(done));
    rearm(queue.key);
    return {.answer = std::nullopt, .wait = id};
  });
}

bool Engine::cancel(WaitId wait) {
  MutexLock lock(mutex_);
  const auto taken = waiters_.take(wait);
  if (taken) rearm(taken->queue);
  return taken.has_value();
}

template <class Decide>
Result<std::vector<Result<void>>> Engine::remove_each(const QueueIdentity& identity,
                                                      std::size_t count, Decide decide) {
  return turn([&](Turn& turn) REQUIRES(mutex_) -> Result<std::vector<Result<void>>> {
    Queue& queue = *TRY(turn.queue(identity));
    std::vector<Result<void>> results;
    results.reserve(count);
    changes_.clear();
    std::uint64_t sequence = number(turn.state().last_key());
    for (std::size_t i = 0; i < count; ++i) {
      const Result<std::optional<queue::Deletion>> decision = decide(turn, queue, i);
      if (!decision) {
        results.push_back(std::unexpected(decision.error()));
        continue;
      }
      results.emplace_back();
      ++queue.traffic.deleted;
      const bool again = *decision && std::ranges::any_of(changes_, [&](const Change& change) {
        return deleted_key(change) == (*decision)->fact.key;
      });
      if (!*decision || again) continue;
      const Slot slot = (*decision)->slot;
      Change& fact = changes_.emplace_back((*decision)->fact);
      if (was_redriven(turn.state(), slot)) {
        for (Extension* const extension : extensions_) {
          extension->redriven_deleted(turn, queue, **decision, sequence, fact);
        }
      }
      if (queue.settings.redrive) samples_.add(store_, queue, slot);
    }
    if (!changes_.empty()) turn.commit(changes_);
    return results;
  });
}

Result<std::vector<Result<void>>> Engine::remove(const QueueIdentity& identity,
                                                 std::span<const std::string_view> handles) {
  // Before the turn: the secret never changes.
  std::vector<std::optional<queue::ReceiptHandle>> opened;
  opened.reserve(handles.size());
  for (const std::string_view handle : handles) {
    opened.push_back(queue::ReceiptHandle::open(store_.state().secret(), handle));
  }
  const auto key_of = [](const auto& handle) {
    return handle ? handle->key : queue::MessageKey::none;
  };
  return remove_each(identity, handles.size(), [&](Turn& turn, const Queue& queue, std::size_t at) {
    if (at == 0) turn.state().messages().prefetch_messages(opened | std::views::transform(key_of));
    const bool is_ours = opened[at] && opened[at]->queue == queue.key;
    return is_ours ? queue::decide_delete(turn.state(), queue, *opened[at])
                   : queue::decide_delete(turn.state(), queue, handles[at], turn.stamp());
  });
}

Result<std::vector<Result<void>>> Engine::remove_held(
    const QueueIdentity& identity, std::span<const queue::ReceiptHandle> handles) {
  return remove_each(identity, handles.size(), [&](Turn& turn, const Queue& queue, std::size_t at) {
    if (at == 0) {
      turn.state().messages().prefetch_messages(handles |
                                                std::views::transform(&queue::ReceiptHandle::key));
    }
    return queue::decide_delete(turn.state(), queue, handles[at]);
  });
}

Result<SendResult> Engine::exchange(const QueueIdentity& from,
                                    std::span<const std::string_view> handles,
                                    const QueueIdentity& to, std::span<const queue::Draft> drafts) {
  RETURN_IF_ERROR(check_space());
  return turn([&](Turn& turn) REQUIRES(mutex_) -> Result<SendResult> {
    Queue& source = *TRY(turn.queue(from));
    Queue& target = *TRY(turn.queue(to));
    std::vector<Change> changes;
    std::set<queue::MessageKey> taken;
    for (const std::string_view handle : handles) {
      const auto deleted = TRY(queue::decide_delete(turn.state(), source, handle, turn.stamp()));
      if (!deleted) {
        return fail(ErrorCode::receipt_handle_is_invalid, "The message has been deleted.");
      }
      if (taken.insert(deleted->fact.key).second) changes.push_back(deleted->fact);
    }
    SendResult result;
    result.outcomes.resize(drafts.size());
    queue::decide_send(turn.state(), target, drafts, turn.stamp(), ids_, changes, result.outcomes);
    turn.commit(changes);
    source.traffic.deleted += taken.size();
    count_sent(target, drafts, result.outcomes);
    result.after = journal_.appended();
    return result;
  });
}

Result<std::vector<Result<void>>> Engine::change_visibility(
    const QueueIdentity& identity, std::span<const VisibilityRequest> requests) {
  return turn([&](Turn& turn) REQUIRES(mutex_) -> Result<std::vector<Result<void>>> {
    Queue& queue = *TRY(turn.queue(identity));
    std::vector<Result<void>> results;
    changes_.clear();
    for (const VisibilityRequest& request : requests) {
      const auto decide = request.not_run ? queue::decide_return : queue::decide_change_visibility;
      const auto decision =
          decide(turn.state(), queue, request.handle, request.timeout, turn.stamp());
      if (decision) changes_.push_back(*decision);
      results.push_back(decision ? Result<void>()
                                 : Result<void>(std::unexpected(decision.error())));
    }
    if (!changes_.empty()) turn.commit(changes_);
    return results;
  });
}

// An empty result may follow from records that are not durable yet: the reply waits for them.
ReceiveOutcome Engine::nothing_received() const {
  return {.messages = {}, .pins = {}, .after = journal_.appended()};
}

void Engine::tick() {
  const Sequence before = journal_.appended();
  std::vector<std::function<void()>> calls;
  turn([&](Turn& turn) REQUIRES(mutex_) {
    const Timestamp now = turn.stamp().now;
    resume_at_ = kNever;
    calls = take_calls(now);
    while (const Waiters::Waiter* const next = waiters_.first_due(now)) {
      if (!may_answer(turn)) break;
      if (resumed_.contains(next->queue)) {
        // The search was not completed: there may be messages behind those that were moved aside.
        waiters_.make_short_poll(next->id);
        continue;
      }
      auto due = waiters_.take(next->id);
      rearm(due->queue);
      if (Queue* queue = store_.state().find(due->queue)) ++queue->traffic.empty_receives;
      answer(std::move(due->done), nothing_received());
    }
    touch_resumed(now);
    std::size_t woken = 0;
    for (const auto& [at, key] : queue_wakes_) {
      if (at > now || ++woken > kQueuesWokenPerTurn) break;
      touched_.push_back(key);
    }
    for (Extension* const extension : extensions_) extension->run(turn);
    serve_waiters(turn);
    armed_ = next_wake();
  });
  for (Extension* const extension : extensions_) extension->after_run();
  for (const auto& call : calls) call();
  sync_since(before);
}

// Picks some of the queues whose receives are to be retried, round robin, so that all get a turn.
void Engine::touch_resumed(Timestamp now) {
  for (std::size_t i = 0; i < kQueuesWokenPerTurn && !resumed_.empty(); ++i) {
    auto next = resumed_.upper_bound(last_resumed_);
    if (next == resumed_.end()) next = resumed_.begin();
    last_resumed_ = *next;
    touched_.push_back(*next);
    resumed_.erase(next);
  }
  if (!resumed_.empty()) resume_at_ = now;
}

void Engine::stop_waiting() {
  const auto answer_some = [&](Turn& turn) REQUIRES(mutex_) {
    stopping_ = true;
    while (waiters_.size() > 0 && may_answer(turn)) {
      answer(waiters_.take_any()->done, nothing_received());
    }
    return waiters_.size() > 0;
  };
  while (turn(answer_some)) give_way();
}

void Engine::settle() {
  catch_up();
  QueueIdentity after;
  while (turn([&](Turn& turn) REQUIRES(mutex_) {
    const auto& queues = store_.state().queues();
    auto at = queues.upper_bound(after);
    for (; at != queues.end() && !turn.is_spent(); ++at) {
      turn.advance(*at->second);
      turn.state().count_work(1);
      after = at->first;
    }
    return at != queues.end();
  })) {
    give_way();
  }
  turn([&](Turn& turn) REQUIRES(mutex_) { turn.commit(queue::TimePassed{}); });
}

void Engine::catch_up() {
  while (turn([&](Turn& turn) REQUIRES(mutex_) {
    expire_some(turn);
    store_.state().bury(kStepsPerTurn);
    return !store_.state().is_settled(turn.stamp().now);
  })) {
    give_way();
  }
}

Result<void> Engine::catch_up(const QueueIdentity& identity) {
  while (true) {
    const auto behind = turn([&](Turn& turn) REQUIRES(mutex_) -> Result<bool> {
      const Queue& queue = *TRY(turn.queue(identity));
      return queue.is_behind() || turn.state().mailbox(queue).is_redelaying();
    });
    if (!TRY(behind)) return {};
    give_way();
  }
}

bool Engine::survey(QueueIdentity& after, std::size_t max, const Surveyor& look) {
  return turn([&](Turn& turn) REQUIRES(mutex_) {
    const auto& queues = store_.state().queues();
    auto at = queues.upper_bound(after);
    for (; max > 0 && at != queues.end() && !turn.is_spent(); --max, ++at) {
      after = at->first;
      if (after.is_hidden()) continue;
      turn.advance(*at->second);
      look(turn.state(), *at->second, turn.stamp());
      turn.state().count_work(1);
    }
    return at != queues.end();
  });
}

std::size_t Engine::reset() {
  std::size_t queues = 0;
  while (turn([&](Turn& turn) REQUIRES(mutex_) { return reset_some(turn, queues); })) give_way();
  return queues;
}

// Removes some queues and documents; the last call resets the rest. True while there is more.
bool Engine::reset_some(Turn& turn, std::size_t& queues) {
  const queue::State& state = turn.state();
  while (!state.queues().empty() && !turn.is_spent()) {
    turn.commit(queue::QueueDeleted{state.queues().begin()->second->key});
    ++queues;
  }
  while (!state.entries().empty() && !turn.is_spent()) {
    const auto [kind, name] = state.entries().begin()->first;
    turn.commit(queue::EntryRemoved{kind, name});
  }
  if (!state.queues().empty() || !state.entries().empty()) return true;
  turn.commit(queue::ServerReset{});
  for (Extension* const extension : extensions_) extension->reset(turn);
  return false;
}

Result<bool> Engine::maintain() {
  const Sequence before = journal_.appended();
  look_at_clock();
  bool more = false;
  std::vector<store::Store::Relocation> relocations;
  turn([&](Turn& turn) REQUIRES(mutex_) {
    const Timestamp now = turn.stamp().now;
    more = expire_some(turn);
    more = store_.maintain(turn.stamp()) || more;
    if (now >= sweep_at_ && !turn.is_spent()) more = sweep(turn) || more;
    for (Extension* const extension : extensions_) {
      if (!turn.is_spent()) more = extension->tidy(turn) || more;
    }
    if (now >= compact_at_) relocations = store_.choose_relocations();
    if (relocations.empty() && now >= compact_at_) compact_at_ = now + kCompactInterval;
  });
  RETURN_IF_ERROR(store_.publish_checkpoint());
  give_way();
  free_remains();
  for (Extension* const extension : extensions_) more = extension->maintain() || more;
  if (!relocations.empty()) {
    relocate(std::move(relocations));
    more = true;
  }
  sync_since(before);
  return more;
}

void Engine::relocate(std::vector<store::Store::Relocation> relocations) {
  std::vector<std::uint32_t> unmovable;
  for (auto& relocation : relocations) {
    std::string bytes;
    if (read_message(relocation.key, relocation.from, bytes)) {
      relocation.stored = std::move(bytes);
    } else {
      unmovable.push_back(relocation.from.segment);
    }
  }
  turn([&](Turn& turn) REQUIRES(mutex_) {
    store_.relocate(turn.stamp(), relocations);
    for (const std::uint32_t segment : unmovable) store_.give_up_on(segment);
  });
}

// Outside the turn: this may free millions of objects.
void Engine::free_remains() {
  queue::Remains remains;
  turn([&](Turn&) REQUIRES(mutex_) { remains = store_.state().take_remains(); });
}

void Engine::found_damage(const Unreadable& found) {
  for (Extension* const extension : extensions_) extension->found_damage(found);
}

Result<store::StoredMessage> Engine::read_message(queue::MessageKey key, const queue::BodyRef& body,
                                                  std::string& bytes) {
  auto stored = store_.read_message(key, body, bytes);
  if (!stored && stored.error().code == ErrorCode::storage_damaged) {
    found_damage({.key = key, .body = body, .error = stored.error().message});
  }
  return stored;
}

Result<store::StoredMessage> Engine::read_message(const Received& received, std::string& bytes) {
  auto stored = store_.read_message(received.handle.key, received.body, bytes);
  if (!stored && stored.error().code == ErrorCode::storage_damaged) {
    found_damage({.key = received.handle.key,
                  .body = received.body,
                  .error = stored.error().message,
                  .delivery = received.handle.generation});
  }
  return stored;
}

// Expires messages of queues without traffic, and gives delayed ones a new delay. True while there
// is more.
bool Engine::expire_some(Turn& turn) {
  queue::State& state = store_.state();
  while (Queue* const queue = state.next_redelayed()) {
    if (turn.is_spent()) return true;
    turn.advance(*queue);
    if (state.mailbox(*queue).is_redelaying()) return true;
  }
  while (Queue* const queue = state.next_expiring(turn.stamp().now)) {
    if (turn.is_spent()) return true;
    turn.advance(*queue);
    if (queue->is_behind()) return true;
  }
  return false;
}

// Brings queues without traffic to the present (visibility, deduplication ids): a few queues at a
// time, round robin. Returns whether the next call is due at once.
bool Engine::sweep(Turn& turn) {
  const auto& queues = store_.state().queues();
  auto at = queues.upper_bound(swept_);
  for (std::size_t i = 0; i < kSweepQueues && at != queues.end(); ++i, ++at) {
    turn.advance(*at->second);
    turn.state().count_work(1);
    if (turn.is_spent()) return true;
    swept_ = at->first;
  }
  if (at == queues.end()) swept_ = {};
  sweep_at_ = turn.stamp().now + kSweepInterval;
  return false;
}

}  // namespace redrive::engine
