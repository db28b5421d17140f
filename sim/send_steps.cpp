// Producer operations.

#include <algorithm>

#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::QueueKey;

// The expected result of a send.
struct Expected {
  bool duplicate = false;
  Uuid message_id;  // Of the first one, like the next.
  std::uint64_t sequence = 0;
  std::optional<std::size_t> forerunner;  // If the first one is in the same batch.
};

// The index of an earlier letter to the same queue with the same deduplication id in the same
// scope. Each letter knows its queue.
std::optional<std::size_t> forerunner(const ModelQueue& queue, std::span<const Letter> letters,
                                      std::size_t at) {
  const bool by_group =
      queue.settings.fifo->dedup_scope_at_birth == queue::DedupScope::message_group;
  for (std::size_t i = 0; i < at; ++i) {
    if (letters[i].queue != letters[at].queue) continue;
    const bool same_scope = !by_group || letters[i].group == letters[at].group;
    if (same_scope && letters[i].dedup == letters[at].dedup) return i;
  }
  return std::nullopt;
}

std::vector<Expected> expect_sends(const Model& model, std::span<const Letter> letters) {
  std::vector<Expected> out(letters.size());
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const ModelQueue& queue = model.queues().at(letters[i].queue);
    if (!queue.settings.fifo) continue;
    if (const auto* before = model.find_dedup(queue, letters[i].group, letters[i].dedup)) {
      out[i] = {.duplicate = true, .message_id = before->message_id, .sequence = before->sequence};
    } else if (const auto first = forerunner(queue, letters, i)) {
      out[i] = {.duplicate = true, .forerunner = first};
    }
  }
  return out;
}

void outcome_is(const Expected& expected, std::span<const queue::SendOutcome> outcomes,
                std::size_t at, const Letter& letter) {
  const queue::SendOutcome& seen = outcomes[at];
  require(seen.duplicate == expected.duplicate,
          "deduplication windows are exact",
          "{} is {}",
          letter.dedup,
          seen.duplicate ? "refused" : "accepted");
  if (!expected.duplicate) return;
  const bool same =
      expected.forerunner
          ? seen.message_id == outcomes[*expected.forerunner].message_id
          : seen.message_id == expected.message_id && seen.sequence == expected.sequence;
  require(same, "a duplicate is told who was first", "{}", letter.dedup);
}

// Checks that the fact is the letter's, and stores what the server added in the letter.
void stamp_letter(Letter& letter, const queue::Change& change, const Record& record,
                  const queue::SendOutcome& outcome) {
  const auto* fact = change.as<queue::MessageSent>();
  require(fact != nullptr && fact->message_id == outcome.message_id &&
              (outcome.sequence == 0 || outcome.sequence == number(fact->key)),
          "what is sent is recorded",
          "record {}",
          record.sequence);
  letter.key = fact->key;
  letter.queue = fact->queue;
  letter.message_id = fact->message_id;
  letter.sent_wall = record.stamp.wall;
  letter.visible_at = fact->visible_at;
  stored_bytes_are_the_letters(record.stored(fact->body), letter);
}

}  // namespace

void Driver::send() {
  const auto key = choose_queue();
  if (!key) return;
  const auto batch = chance_.one_in(2) ? 1 : static_cast<std::size_t>(chance_.between(1, 10));
  std::vector<Letter> letters;
  for (std::size_t i = 0; i < std::min(batch, room_for_letters()); ++i) {
    letters.push_back(write_letter_to(*key));
  }
  if (!letters.empty()) send_letters(*key, std::move(letters));
}

std::size_t Driver::room_for_letters() {
  const std::size_t live = world_.store().state().messages().size();
  return world_.shape().messages_max - std::min(world_.shape().messages_max, live);
}

Letter Driver::write_letter_to(QueueKey key) {
  const bool fifo = world_.model().queues().at(key).settings.is_fifo();
  Letter letter =
      write_letter(chance_, fifo ? Post::fifo : Post::standard, world_.shape().body_bytes_max);
  letter.queue = key;
  return letter;
}

// Sends of different clients, each to its own queue. One of them may be to a deleted queue.
void Driver::send_together() {
  const auto count = static_cast<std::size_t>(chance_.between(2, 8));
  std::vector<Letter> letters;
  for (std::size_t i = 0; i < std::min(count, room_for_letters()); ++i) {
    if (const auto key = choose_queue()) letters.push_back(write_letter_to(*key));
  }
  if (letters.empty() || !world_.journal().has_room()) return;
  std::vector<engine::Parcel> parcels;
  for (const Letter& letter : letters) {
    parcels.push_back({.to = letter.queue, .draft = draft_of(letter)});
  }
  const auto lost = static_cast<std::size_t>(chance_.between(0, 20));
  if (lost < parcels.size()) {
    engine::Parcel nowhere = parcels[lost];
    nowhere.to = next(world_.store().state().last_queue());
    parcels.insert(parcels.begin() + static_cast<std::ptrdiff_t>(lost), nowhere);
  }
  const auto expected = expect_sends(world_.model(), letters);
  world_.engine().send(parcels);
  const auto records = world_.take_records();
  tell("  {} to several queues", letters.size());
  if (lost < parcels.size()) {
    const auto& outcome = parcels[lost].outcome;
    require(!outcome && outcome.error().code == ErrorCode::queue_does_not_exist,
            "what is sent to no queue is refused",
            "parcel {}",
            lost);
    parcels.erase(parcels.begin() + static_cast<std::ptrdiff_t>(lost));
  }
  std::vector<queue::SendOutcome> outcomes;
  for (const engine::Parcel& parcel : parcels) {
    require(parcel.outcome.has_value(), "what is sent is accepted", "queue {}", number(parcel.to));
    outcomes.push_back(*parcel.outcome);
  }
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    outcome_is(expected[i], outcomes, i, letters[i]);
    if (expected[i].duplicate) continue;
    require(!records.empty() && records.front().facts.size() > accepted,
            "what is sent together is one record",
            "{} letters",
            letters.size());
    const ModelQueue queue = world_.model().queues().at(letters[i].queue);
    accept_one(queue,
               records.front(),
               records.front().facts[accepted++],
               outcomes[i],
               std::move(letters[i]));
  }
  require(accepted == 0 || records.front().facts.size() == accepted,
          "what is sent together is one record",
          "{} letters",
          accepted);
  world_.follow(records);
  world_.settle_answers();
}

void Driver::send_letters(QueueKey key, std::vector<Letter> letters) {
  const ModelQueue queue = world_.model().queues().at(key);
  std::vector<queue::Draft> drafts;
  for (Letter& letter : letters) {
    letter.queue = key;
    drafts.push_back(draft_of(letter));
  }
  const bool room = world_.journal().has_room();
  const auto expected = expect_sends(world_.model(), letters);
  const auto result = world_.engine().send(queue.identity, drafts);
  const auto records = world_.take_records();
  tell("  {} to {}{}", letters.size(), queue.identity.name, room ? "" : ": no room");
  if (!room) {
    require(!result && result.error().code == ErrorCode::service_unavailable && records.empty(),
            "a full disk refuses what is sent",
            "{}",
            queue.identity.name);
    return;
  }
  require(result.has_value(), "what is sent is accepted", "{}", queue.identity.name);
  std::vector<queue::SendOutcome> fresh;
  std::vector<Letter> accepted;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    outcome_is(expected[i], result->outcomes, i, letters[i]);
    if (expected[i].duplicate) continue;
    fresh.push_back(result->outcomes[i]);
    accepted.push_back(std::move(letters[i]));
  }
  if (!accepted.empty()) {
    require(!records.empty() && result->after >= records.front().sequence,
            "replies wait for their record",
            "{} messages",
            accepted.size());
    accept(queue, records.front(), fresh, std::move(accepted));
  }
  world_.follow(records);
  world_.settle_answers();
}

// Atomically deletes from one queue and sends to another.
void Driver::exchange() {
  const auto from = choose_received_queue();
  const auto to = choose_queue();
  if (!from || !to || !world_.journal().has_room()) return;
  const auto handles = choose_handles(*from, static_cast<std::size_t>(chance_.between(1, 3)));
  if (handles.empty()) return;
  const ModelQueue target = world_.model().queues().at(*to);
  std::vector<Letter> letters;
  letters.push_back(write_letter_to(*to));
  const auto sends = expect_sends(world_.model(), letters);
  bool valid = true;
  std::vector<std::string> texts;
  for (const Shown& shown : handles) {
    valid = valid && !refusal(shown, *from) &&
            world_.model().standing(shown.handle, *from) != Standing::gone;
    texts.push_back(seal(shown));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const queue::Draft draft = draft_of(letters.front());
  const auto result =
      world_.engine().exchange(identity_of(*from), views, target.identity, std::span(&draft, 1));
  const auto records = world_.take_records();
  const auto removes = [](const Record& record) {
    return std::ranges::any_of(
        record.facts, [](const queue::Change& fact) { return fact.is<queue::MessageDeleted>(); });
  };
  tell("  {} from {} to {}: {}", handles.size(), number(*from), number(*to), valid);
  require(result.has_value() == valid && (valid || std::ranges::none_of(records, removes)),
          "an exchange happens as a whole or not at all",
          "from {}",
          number(*from));
  if (valid && !sends.front().duplicate) {
    Record sent = records.front();
    std::erase_if(sent.facts,
                  [](const queue::Change& fact) { return fact.is<queue::MessageDeleted>(); });
    accept(target, sent, result->outcomes, std::move(letters));
  }
  world_.follow(records);
  world_.settle_answers();
}

// The first record of a send contains the new letters, in order.
void Driver::accept(const ModelQueue& queue, const Record& record,
                    std::span<const queue::SendOutcome> outcomes, std::vector<Letter> letters) {
  require(record.facts.size() == letters.size(), "what is sent is recorded", "{}", letters.size());
  for (std::size_t i = 0; i < letters.size(); ++i) {
    accept_one(queue, record, record.facts[i], outcomes[i], std::move(letters[i]));
  }
}

void Driver::accept_one(const ModelQueue& queue, const Record& record, const queue::Change& fact,
                        const queue::SendOutcome& outcome, Letter letter) {
  const QueueKey to = letter.queue;
  stamp_letter(letter, fact, record, outcome);
  const Duration delay = letter.delay.value_or(queue.settings.delay);
  require(letter.queue == to && letter.visible_at == record.stamp.now + delay,
          "delays are exact",
          "message {}",
          number(letter.key));
  world_.keep(std::move(letter));
}

}  // namespace redrive::sim
