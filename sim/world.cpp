#include "sim/world.h"

#include <algorithm>

#include "sim/crowd.h"
#include "sim/invariants.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::MessageKey;
using queue::QueueKey;

// The queue of a receive's record; nullopt for other records.
std::optional<QueueKey> receiving_queue(const Record& record) {
  for (const queue::Change& fact : record.facts) {
    if (fact.is<queue::FailureReported>()) return std::nullopt;
    if (const auto* dead = fact.as<queue::MessageDeadLettered>()) return dead->from;
    if (const auto* received = fact.as<queue::MessagesReceived>()) return received->queue;
    if (const auto* repeated = fact.as<queue::ReceiveRepeated>()) return repeated->queue;
  }
  return std::nullopt;
}

}  // namespace

std::vector<MessageKey> delivered_by(const Record& record) {
  for (const queue::Change& fact : record.facts) {
    if (const auto* received = fact.as<queue::MessagesReceived>()) {
      return {received->keys.begin(), received->keys.begin() + received->count};
    }
    if (const auto* repeated = fact.as<queue::ReceiveRepeated>()) {
      return {repeated->keys.begin(), repeated->keys.begin() + repeated->count};
    }
  }
  return {};
}

World::World(Chance& chance, const Shape& shape, std::uint64_t seed)
    : chance_(chance), shape_(shape), ids_(seed ^ 0x5eed) {
  open_again();
  follow(take_records());
  sync();
}

World::~World() = default;

const Model& World::model() {
  now_model_.advance(now());
  return now_model_;
}

std::vector<Record> World::take_records() {
  auto records = journal().take();
  for (Record& record : records) {
    record.disk_fails = fault_expected_;
    require(record.stamp.now == now() && record.stamp.wall == clock_.wall(),
            "records carry the time of their operation",
            "record {}",
            record.sequence);
  }
  totals_.records += records.size();
  return records;
}

void World::believe(const Record& record) {
  for (const queue::Change& fact : record.facts) {
    if (const auto* gone = fact.as<queue::MessageArchived>()) {
      archived_is_in_the_archive(*gone);
    }
    if (const auto* damaged = fact.as<queue::MessageDamaged>()) damaged_is_damaged(*damaged);
  }
  now_model_.apply(record);
  in_doubt_.push_back(record);
  for (const queue::Change& fact : record.facts) {
    count(fact);
    if (const auto* started = fact.as<queue::MoveTaskStarted>()) {
      paces_[started->task] = {.since = record.stamp.now};
    }
    if (const auto* changed = fact.as<queue::MoveTaskChanged>()) {
      // What it earned at another rate is at most a second's worth of this one.
      paces_[changed->task] = {.since = record.stamp.now - Duration(1000)};
    }
  }
}

void World::count(const queue::Change& fact) {
  if (fact.is<queue::MessageDeadLettered>()) ++totals_.dead_lettered;
  if (fact.is<queue::MessageRedriven>()) ++totals_.redriven;
  if (fact.is<queue::MessageRelocated>()) ++totals_.relocations;
  if (fact.is<queue::FailureReported>()) ++totals_.failed;
  if (fact.is<queue::MessageGrouped>()) ++totals_.grouped;
  if (fact.is<queue::MessageDiscarded>()) ++totals_.discarded;
  if (fact.is<queue::MessageEdited>()) ++totals_.edited;
  if (fact.is<queue::MessageDamaged>()) ++totals_.damaged;
  if (const auto* archived = fact.as<queue::MessageArchived>()) {
    ++totals_.archived;
    if (now_model_.is_policy(archived->actor)) ++totals_.archived_by_policy;
  }
  const auto* continued = fact.as<queue::LineageContinued>();
  if (continued != nullptr && continued->archived_as) ++totals_.unarchived;
  const auto* changed = fact.as<queue::MoveTaskChanged>();
  if (changed != nullptr && changed->status == queue::TaskStatus::halted) ++totals_.halted;
}

void World::follow(std::span<const Record> records) {
  for (const Record& record : records) {
    now_model_.advance(record.stamp.now);
    if (const auto queue = receiving_queue(record)) {
      follow_receive(record, *queue);
      continue;
    }
    relocations_are_copies(record);
    believe(record);
    moves_keep_their_pace(record);
  }
}

void World::follow_receive(const Record& record, QueueKey queue) {
  // First come, first served.
  const auto first = std::ranges::find_if(waiters_, [&](const Waiter& waiter) {
    return waiter.ask.queue == queue && waiter.deliveries.empty() && !waiter.expired;
  });
  require(first != waiters_.end(),
          "messages go to those who asked",
          "a receive from queue {} for nobody",
          number(queue));
  now_model_.check_receive(first->ask, &record);
  believe(record);
  first->deliveries = deliveries(delivered_by(record));
  first->after = record.sequence;
}

// A task has moved at most 1 + rate * time messages, and never more than a second's worth at once.
void World::moves_keep_their_pace(const Record& record) {
  std::uint64_t count = 0;
  queue::TaskKey task{};
  for (const queue::Change& fact : record.facts) {
    if (const auto* moved = fact.as<queue::MessageRedriven>()) {
      ++count;
      task = moved->task;
    }
  }
  if (count == 0 || task == queue::TaskKey::none) return;
  TaskPace& pace = paces_.at(task);
  pace.moved += count;
  const std::uint64_t rate = now_model_.tasks().at(task).rate;
  const auto elapsed = static_cast<std::uint64_t>((record.stamp.now - pace.since).count());
  require(rate == 0 || (pace.moved <= 1 + rate * elapsed / 1000 && count <= rate),
          "move tasks keep their rate",
          "task {} moved {} in {} ms, {} a second were allowed",
          number(task),
          pace.moved,
          elapsed,
          rate);
}

void World::relocations_are_copies(const Record& record) {
  for (const queue::Change& fact : record.facts) {
    const auto* relocated = fact.as<queue::MessageRelocated>();
    // An expired message may have been chosen before.
    if (relocated == nullptr || !now_model_.messages().contains(relocated->key)) continue;
    stored_bytes_are_the_letters(record.stored(relocated->body), letter(relocated->key));
  }
}

void World::keep(Letter letter, std::uint32_t edition) {
  const MessageKey key = letter.key;
  letters_.insert_or_assign({key, edition}, std::move(letter));
}

const Letter& World::letter(MessageKey key) const {
  return letters_.at({key, now_model_.messages().at(key).edition});
}

std::vector<Delivery> World::deliveries(std::span<const MessageKey> keys) const {
  std::vector<Delivery> out;
  for (const MessageKey key : keys) {
    const ModelMessage& message = now_model_.messages().at(key);
    const queue::History& history = message.history;
    out.push_back({.key = key,
                   .generation = message.generation(),
                   .receive_count = message.receive_count,
                   .sequence = message.order,
                   .first_received_wall = history.first_received_wall,
                   .sent_wall = history.sent_wall,
                   .message_id = history.message_id,
                   .dead_letter_source = now_model_.names()[number(history.dead_letter_source)],
                   .dedup_is_message_id = history.dedup_is_message_id});
  }
  return out;
}

void World::reply_is_exact(const engine::ReceiveOutcome& outcome,
                           std::span<const Delivery> expected, journal::Sequence after,
                           QueueKey queue) {
  constexpr std::string_view kExact = "replies tell what was decided";
  require(outcome.messages.size() == expected.size(), kExact, "{} messages", expected.size());
  require(expected.empty() || outcome.after >= after,
          "replies wait for their record",
          "{} before {}",
          outcome.after,
          after);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const engine::Received& seen = outcome.messages[i];
    const Delivery& told = expected[i];
    require(seen.handle == queue::ReceiptHandle{queue, told.key, told.generation} &&
                seen.receive_count == told.receive_count && seen.sequence == told.sequence &&
                seen.first_received_wall == told.first_received_wall &&
                seen.sent_wall == told.sent_wall && seen.message_id == told.message_id &&
                seen.dead_letter_source == told.dead_letter_source &&
                seen.dedup_is_message_id == told.dedup_is_message_id,
            kExact,
            "message {}",
            number(told.key));
    issued_.push_back({.handle = seen.handle, .after = outcome.after});
  }
  while (issued_.size() > 60) issued_.pop_front();
}

void World::hold_reply(engine::ReceiveOutcome outcome) {
  std::vector<std::uint32_t> editions;
  for (const engine::Received& message : outcome.messages) {
    editions.push_back(now_model_.messages().at(message.handle.key).edition);
  }
  held_.push_back({std::move(outcome), std::move(editions)});
}

void World::read_held_replies() {
  while (!held_.empty()) {
    const HeldReply reply(std::move(held_.front()));
    held_.pop_front();
    for (std::size_t i = 0; i < reply.editions.size(); ++i) {
      const engine::Received& message = reply.outcome.messages[i];
      read_received(message, letters_.at({message.handle.key, reply.editions[i]}));
    }
    // Moving a damaged message aside may unblock others that a waiter can receive.
    follow(take_records());
    settle_answers();
  }
}

// Like the API: a consumer gets exactly the bytes that were sent, or nothing.
void World::read_received(const engine::Received& message, const Letter& letter) {
  std::string bytes;
  const auto stored = engine().read_message(message, bytes);
  if (stored) return stored_bytes_are_the_letters(bytes, letter);
  require(fault_expected_ || is_flipped(message.body),
          "bodies can be read as long as their message lives",
          "message {}: {}",
          number(letter.key),
          stored.error().message);
}

void World::read_body(const store::Store& store, const queue::BodyRef& body, const Letter& letter) {
  std::string bytes(body.size, '\0');
  const auto read = store.read(body, bytes.data());
  if (!read && fault_expected_) return;  // The machine stands still; the crash is about to come.
  require(read.has_value(),
          "bodies can be read as long as their message lives",
          "message {}: {}",
          number(letter.key),
          read ? "" : read.error().message);
  stored_bytes_are_the_letters(bytes, letter);
}

void World::add_waiter(std::uint64_t number, engine::WaitId id, Ask ask, Timestamp deadline) {
  waiters_.push_back({.number = number, .id = id, .ask = std::move(ask), .deadline = deadline});
}

void World::forget_waiter(std::uint64_t number) {
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.number == number; });
}

std::function<void(Result<engine::ReceiveOutcome>)> World::answer_to(std::uint64_t number) {
  return [this, number](Result<engine::ReceiveOutcome> outcome) {
    answers_.push_back({number, std::move(outcome)});
  };
}

// Every answer is the one its waiter should get, and every waiter that should have one has it.
void World::settle_answers() {
  for (Answer& answer : answers_) {
    const auto waiter = std::ranges::find(waiters_, answer.number, &Waiter::number);
    require(waiter != waiters_.end(), "a wait is answered once", "wait {}", answer.number);
    settle_answer(*waiter, answer);
    waiters_.erase(waiter);
  }
  answers_.clear();
  for (const Waiter& waiter : waiters_) {
    require(waiter.deliveries.empty() && !waiter.expired && !stopping_ &&
                now_model_.queues().contains(waiter.ask.queue),
            "every wait ends by message, deadline or shutdown",
            "wait {}",
            waiter.number);
  }
  require(engine().waiting() == waiters_.size(),
          "every wait ends by message, deadline or shutdown",
          "{} wait, not {}",
          engine().waiting(),
          waiters_.size());
}

void World::settle_answer(const Waiter& waiter, Answer& answer) {
  constexpr std::string_view kRight = "a wait ends with the right answer";
  if (!now_model_.queues().contains(waiter.ask.queue) && waiter.deliveries.empty()) {
    require(!answer.outcome && answer.outcome.error().code == ErrorCode::queue_does_not_exist,
            kRight,
            "wait {}: the queue is gone",
            waiter.number);
    return;
  }
  require(answer.outcome.has_value(), kRight, "wait {}: an error", waiter.number);
  require(!waiter.deliveries.empty() || waiter.expired || stopping_,
          kRight,
          "wait {} ended for no reason",
          waiter.number);
  reply_is_exact(*answer.outcome, waiter.deliveries, waiter.after, waiter.ask.queue);
  hold_reply(std::move(*answer.outcome));
}

void World::check() {
  const Timestamp at = now();
  now_model_.advance(at);
  memory_equals_the_model({store().state(), now_model_, at});
  if (chance_.one_in(3)) queues_are_in_order();
  nobody_waits_in_vain();
  bodies_are_held();
  const std::uint64_t work = engine().take_most_work();
  require(work <= kWorkPerTurnMax, "no turn does more than its share", "one did {} units", work);
  require(server_->complaints().empty() || fault_expected_,
          "the server has nothing to complain about",
          "{}",
          server_->complaints().empty() ? "" : server_->complaints().front());
}

void World::queues_are_in_order() {
  // Advancing a queue may serve waiting receives, and messages received with visibility 0 become
  // available again.
  journal::Sequence before = 0;
  do {
    before = journal().appended();
    engine().turn([](engine::Turn& turn) {
      for (const auto& [identity, queue] : turn.state().queues()) (void)turn.queue(identity);
    });
    for (const auto& [identity, queue] : store().state().queues()) {
      if (identity.is_hidden()) store().state().advance(*queue, now());
    }
    follow(take_records());
    settle_answers();
  } while (journal().appended() != before);
  const View view{store().state(), model(), now()};
  mailbox_structures_agree(view.state);
  counters_equal_a_recount(view);
  walks_find_what_is_available(view);
}

// While the engine says that nothing is due, no waiting receive could be served.
void World::nobody_waits_in_vain() {
  if (engine().armed() <= now()) return;
  for (const Waiter& waiter : waiters_) {
    require(waiter.deadline > now() && now_model_.available(waiter.ask.queue).empty(),
            "nobody waits in vain",
            "wait {} on queue {}",
            waiter.number,
            number(waiter.ask.queue));
  }
}

// The journal holds exactly the bytes of the messages in memory.
void World::bodies_are_held() {
  std::map<std::uint32_t, std::uint64_t> needed;
  const auto& table = store().state().messages();
  for (queue::Slot slot = 0; slot < table.end(); ++slot) {
    if (table[slot].key != MessageKey::none)
      needed[table[slot].body.segment] += table[slot].body.size;
  }
  for (const auto& use : journal().usage()) {
    const auto found = needed.find(use.segment);
    const std::uint64_t expected = found == needed.end() ? 0 : found->second;
    require(use.held_bytes == expected,
            "the journal holds the bodies of live messages",
            "segment {}: {} bytes, not {}",
            use.segment,
            use.held_bytes,
            expected);
    needed.erase(use.segment);
  }
  require(needed.empty(), "the journal holds the bodies of live messages", "a segment is gone");
}

void World::bodies_are_whole() {
  const auto& table = store().state().messages();
  for (queue::Slot slot = 0; slot < table.end(); ++slot) {
    const queue::Message& message = table[slot];
    if (!now_model_.messages().contains(message.key)) continue;  // Over, or an empty slot.
    if (is_flipped(message.body)) continue;
    read_body(store(), message.body, letter(message.key));
  }
}

}  // namespace redrive::sim
