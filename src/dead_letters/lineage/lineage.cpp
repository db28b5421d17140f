#include "dead_letters/lineage/lineage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>

#include "core/engine/error_bounds.h"
#include "dead_letters/triage/characters.h"

namespace redrive::dead_letters {
namespace {

using engine::Actor;
using engine::BodyPins;
using engine::Turn;
using queue::Change;
using queue::MessageKey;
using queue::Slot;

constexpr Slot kSlotsPerLook = 4096;
constexpr std::size_t kPlacesPerTurn = 64;
// Messages of which an older journal did not tell the mark are looked into, no more than these for
// one question: what is learned then is known to the next one.
constexpr std::size_t kUnmarkedReadsMax = 20'000;
constexpr std::size_t kNameBytesMax = 256;

// A message that may be of the lineage asked for.
struct Suspect {
  MessageKey key;
  Slot slot;
  queue::BodyRef body;
  bool renamed = false;  // Its present MessageId is one that is looked for.
};

// Whether an id with that mark can begin so. A mark of 1 stands for 0, too.
bool mark_is_like(std::uint32_t mark, std::string_view prefix) {
  Uuid id;
  std::memcpy(id.bytes.data(), &mark, sizeof mark);
  const std::string_view start = prefix.substr(0, 2 * sizeof mark);
  return id.text().starts_with(start) ||
         (mark == 1 && std::string_view("00000000").starts_with(start));
}

bool is_known_as(const queue::State& state, Slot slot, const Uuid& id) {
  const queue::History* history = state.messages().history_if(slot);
  return history != nullptr && history->message_id == id;
}

std::optional<Uuid> read_lineage(const store::Store& store, queue::BodyRef body) {
  std::string head(store::kMessageHeadBytes, '\0');
  body.size = static_cast<std::uint32_t>(head.size());
  if (!store.read(body, head.data())) return std::nullopt;
  return store::message_id_of(head);
}

// What a new life keeps of those before.
queue::History past_of(const queue::History& history) {
  queue::History past;
  past.origin = history.origin;
  past.attempts = history.attempts;
  past.attempts_total = history.attempts_total;
  past.events = history.events;
  past.events_total = history.events_total;
  return past;
}

// Adds the names and errors that a history from elsewhere speaks of, and gives it in our numbers.
class HistoryReader {
 public:
  HistoryReader(Turn& turn, std::vector<Change>& changes)
      : turn_(turn), changes_(changes), last_error_(turn.state().errors().last()) {}

  queue::History read(const Peeked& told) {
    queue::History history = past_of(told.history.value_or(queue::History{}));
    history.origin = name(told.origin);
    for (std::size_t i = 0; i < history.attempts.size(); ++i) {
      // Whoever had it when it was archived has it no more.
      history.end_attempt(queue::AttemptEnd::released, history.received_at);
      history.attempts[i].by = name(told.consumers[i]);
      history.attempts[i].error = error(told.errors[i]);
    }
    for (std::size_t i = 0; i < history.events.size(); ++i) {
      history.events[i].from = name(told.events[i].from);
      history.events[i].actor = name(told.events[i].actor);
      history.events[i].reason = name(told.events[i].reason);
      history.events[i].job = job(told.events[i].job);
    }
    return history;
  }

  queue::NameIndex name(std::string_view text) {
    texts_.push_back(triage::cut(text, kNameBytesMax));
    return turn_.name(texts_.back(), changes_);
  }

 private:
  queue::ErrorKey error(const queue::ErrorText& told) {
    queue::ErrorText text = engine::bounded(told);
    if (text == queue::ErrorText{}) return queue::ErrorKey::none;
    const queue::ErrorTable& errors = turn_.state().errors();
    if (errors.full()) text = {.type = text.type};
    if (!errors.has_room_for_logs()) text.log.clear();
    if (const auto known = errors.find(text); known != queue::ErrorKey::none) return known;
    for (const Change& change : changes_) {
      const auto* learned = change.as<queue::ErrorLearned>();
      if (learned != nullptr && learned->text == text) return learned->error;
    }
    last_error_ = next(last_error_);
    changes_.push_back(queue::ErrorLearned{last_error_, std::move(text)});
    return last_error_;
  }

  queue::TaskKey job(const std::string& id) const {
    const auto parsed = Uuid::parse(id);
    const queue::MoveTask* task = parsed ? turn_.state().find_task(*parsed) : nullptr;
    return task == nullptr ? queue::TaskKey::none : task->key;
  }

  Turn& turn_;
  std::vector<Change>& changes_;
  std::deque<std::string> texts_;  // The facts view them.
  queue::ErrorKey last_error_;
};

std::string arn_without_bin(const queue::QueueIdentity& identity) {
  const std::string arn = identity.arn();
  return arn.substr(0, arn.find('!'));
}

LineagePlace look_at_archived(const queue::State& state, const queue::ArchivedLineage& archived) {
  LineagePlace place{.where = LineagePlace::Where::archive,
                     .queue = state.name(archived.from),
                     .message_id = archived.message_id,
                     .message = {},
                     .archive = archived.place,
                     .archived_wall = archived.archived_wall,
                     .restored_wall = archived.restored_wall};
  tell_history(state, archived.history, place.message);
  return place;
}

Unarchived unarchive_one(Turn& turn, queue::Queue& queue, const Unarchive& message,
                         const Actor& by) {
  const queue::ArchivedLineage* known =
      message.archived_as ? turn.state().archived().find(*message.archived_as) : nullptr;
  if (known != nullptr && known->restored_wall != Timestamp() && !message.again) {
    return {.message_id = known->message_id, .before = true};
  }
  std::vector<Change> changes;
  HistoryReader reader(turn, changes);
  // What is remembered is better than what a document tells, which was written before the message
  // was archived.
  auto history = std::make_shared<queue::History>(known == nullptr ? reader.read(message.told)
                                                                   : past_of(known->history));
  history->redrives = message.told.history ? message.told.history->redrives : 0;
  history->add({.wall = turn.stamp().wall,
                .from = known == nullptr ? queue::NameIndex::none : known->from,
                .actor = reader.name(by.name),
                .reason = reader.name(by.reason),
                .kind = queue::LineageEvent::Kind::unarchived});
  queue::SendOutcome outcome;
  queue::decide_send(turn.state(),
                     queue,
                     std::span(&message.draft, 1),
                     turn.stamp(),
                     turn.ids(),
                     changes,
                     std::span(&outcome, 1));
  if (outcome.duplicate) return {.message_id = outcome.message_id, .before = true};
  auto& sent = *changes.back().as<queue::MessageSent>();
  sent.message_id = message.lineage;  // The id it is known by from now on is in its history.
  history->message_id = outcome.message_id;
  changes.push_back(queue::LineageContinued{
      .key = sent.key, .archived_as = message.archived_as, .history = history});
  turn.commit(changes);
  queue.traffic.count_sent(message.draft.bytes);
  return {.message_id = outcome.message_id};
}

}  // namespace

// Message ids are random, so their first bytes tell nearly all messages apart from the one that is
// looked for; the rest of the id stands in its stored bytes.
Lineages::Suspects Lineages::suspects_of(const Uuid& id) {
  Suspects found;
  const std::uint32_t mark = queue::lineage_mark_of(id);
  std::size_t unmarked = 0;
  bool more = true;
  for (Slot from = 0; more; from += kSlotsPerLook) {
    std::vector<Suspect> suspects;
    BodyPins pins(engine_.store());
    more = engine_.turn([&](Turn& turn) {
      const queue::MessageTable& table = turn.state().messages();
      const Slot end = std::min<Slot>(table.end(), from + kSlotsPerLook);
      for (Slot slot = from; slot < end; ++slot) {
        const queue::Message& message = table[slot];
        if (message.key == MessageKey::none || turn.state().is_buried(slot)) continue;
        // A look costs far less than a unit of work.
        if (slot % 16 == 0) turn.state().count_work(1);
        const bool unknown = message.lineage_mark == 0 && ++unmarked <= kUnmarkedReadsMax;
        if (message.lineage_mark != mark && !unknown && !is_known_as(turn.state(), slot, id)) {
          continue;
        }
        suspects.push_back({message.key, slot, message.body});
        pins.add(message.body);
      }
      return end < table.end();
    });
    engine_.give_way();
    for (const Suspect& suspect : suspects) {
      const auto lineage = read_lineage(engine_.store(), suspect.body);
      if (!lineage) continue;
      engine_.turn([&](Turn& turn) {
        const queue::MessageTable& table = turn.state().messages();
        if (table.find(suspect.key) != suspect.slot) return;
        if (table[suspect.slot].lineage_mark == 0) {
          turn.store().state().learn_mark(suspect.slot, queue::lineage_mark_of(*lineage));
        }
        if (*lineage != id && !is_known_as(turn.state(), suspect.slot, id)) return;
        found.keys.push_back(suspect.key);
        found.lineages.push_back(*lineage);
      });
    }
  }
  return found;
}

// The mark has the first four bytes of an id, so it tells nearly all messages apart from those that
// are looked for when the beginning is that long; a shorter one leaves more to be read.
std::vector<Uuid> Lineages::like(std::string_view prefix, std::size_t max) {
  std::set<Uuid> found;
  std::size_t unmarked = 0;
  bool more = true;
  for (Slot from = 0; more && found.size() < max; from += kSlotsPerLook) {
    std::vector<Suspect> suspects;
    BodyPins pins(engine_.store());
    more = engine_.turn([&](Turn& turn) {
      const queue::MessageTable& table = turn.state().messages();
      const Slot end = std::min<Slot>(table.end(), from + kSlotsPerLook);
      for (Slot slot = from; slot < end; ++slot) {
        const queue::Message& message = table[slot];
        if (message.key == MessageKey::none || turn.state().is_buried(slot)) continue;
        if (slot % 16 == 0) turn.state().count_work(1);
        const bool unknown = message.lineage_mark == 0 && ++unmarked <= kUnmarkedReadsMax;
        const queue::History* history = table.history_if(slot);
        const bool renamed = history != nullptr && history->message_id &&
                             history->message_id->text().starts_with(prefix);
        if (!unknown && !renamed && !mark_is_like(message.lineage_mark, prefix)) continue;
        suspects.push_back({message.key, slot, message.body, renamed});
        pins.add(message.body);
      }
      return end < table.end();
    });
    engine_.give_way();
    for (const Suspect& suspect : suspects) {
      const auto lineage = read_lineage(engine_.store(), suspect.body);
      if (lineage && (suspect.renamed || lineage->text().starts_with(prefix))) {
        found.insert(*lineage);
      }
      if (found.size() == max) break;
    }
  }
  return {found.begin(), found.end()};
}

LineageFound Lineages::find(const Uuid& id) {
  LineageFound found{.lineage = id, .places = {}};
  engine_.turn([&](Turn& turn) {
    const queue::ArchivedLineage* archived = turn.state().archived().find(id);
    if (archived != nullptr) found.lineage = archived->lineage;
  });
  Suspects suspects = suspects_of(found.lineage);
  if (!suspects.keys.empty() && suspects.lineages[0] != found.lineage) {
    // The id is one that a redrive gave: there may be others of the same lineage.
    found.lineage = suspects.lineages[0];
    suspects = suspects_of(found.lineage);
  }
  engine_.turn([&](Turn& turn) {
    const queue::State& state = turn.state();
    for (const queue::ArchivedLineage* archived : state.archived().of(found.lineage)) {
      found.places.push_back(look_at_archived(state, *archived));
    }
  });
  // Edits leave their originals in the bin, so there may be many of one lineage.
  std::span<const MessageKey> left(suspects.keys);
  while (!left.empty()) {
    engine_.turn([&](Turn& turn) {
      for (std::size_t i = 0; i < kPlacesPerTurn && !left.empty(); ++i) {
        look_for(turn, left.front(), found);
        left = left.subspan(1);
      }
    });
    engine_.give_way();
  }
  return found;
}

void Lineages::look_for(Turn& turn, MessageKey key, LineageFound& found) {
  const queue::State& state = turn.state();
  const Slot before = state.messages().find(key);
  if (before == queue::kNoSlot || state.is_buried(before)) return;
  queue::Queue& queue = *turn.find(state.queue_of(before));
  turn.advance(queue);
  turn.state().count_work(1);
  const Slot slot = state.find_message(queue, key);
  if (slot == queue::kNoSlot) return;  // Its time was over.
  found.places.push_back(look_at_place(turn, queue, slot, found.lineage));
}

LineagePlace Lineages::look_at_place(Turn& turn, const queue::Queue& queue, Slot slot,
                                     const Uuid& lineage) const {
  const bool hidden = queue.identity.is_hidden();
  using Where = LineagePlace::Where;
  const Where aside = queue.identity.is_damaged()   ? Where::damaged
                      : queue.identity.is_settled() ? Where::settled
                                                    : Where::bin;
  LineagePlace place{.where = hidden ? aside : Where::queue,
                     .queue = arn_without_bin(queue.identity),
                     .message_id = lineage,
                     .message = peek_.look(turn, queue, slot),
                     .archive = {},
                     .archived_wall = {}};
  const auto& history = place.message.history;
  if (history && history->message_id) place.message_id = *history->message_id;
  return place;
}

Result<HeldMessages> Lineages::held(const queue::QueueIdentity& identity,
                                    std::span<const std::string_view> handles) {
  HeldMessages held{.messages = {}, .pins = BodyPins(engine_.store())};
  RETURN_IF_ERROR(engine_.turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    for (const std::string_view handle : handles) {
      const auto slot = queue::find_delivered(turn.state(), queue, handle);
      if (!slot) {
        held.messages.push_back(std::unexpected(slot.error()));
        continue;
      }
      held.messages.push_back(
          HeldMessage{.message = peek_.look(turn, queue, *slot), .lineage = {}});
      held.pins.add(held.messages.back()->message.body);
    }
    return {};
  }));
  std::string bytes;
  for (auto& message : held.messages) {
    if (!message) continue;
    const Peeked& seen = message->message;
    const auto stored = engine_.store().read_message(seen.mark.key, seen.body, bytes);
    if (!stored) {
      message = fail(ErrorCode::internal_failure, "The message cannot be read.");
    } else {
      message->lineage = stored->message_id;
    }
  }
  return held;
}

Result<std::vector<Result<void>>> Lineages::archive_held(const queue::QueueIdentity& identity,
                                                         std::span<const ArchivedByHolder> archived,
                                                         const Actor& by) {
  std::vector<std::string_view> handles;
  for (const ArchivedByHolder& one : archived) handles.push_back(one.handle);
  const HeldMessages messages = TRY(held(identity, handles));
  return engine_.turn([&](Turn& turn) -> Result<std::vector<Result<void>>> {
    queue::Queue& queue = *TRY(turn.queue(identity));
    std::vector<Result<void>> results;
    std::vector<Change> changes;
    const queue::NameIndex actor = turn.name(by.name, changes);
    const queue::NameIndex reason = turn.name(by.reason, changes);
    const std::size_t names = changes.size();
    std::vector<MessageKey> gone;
    std::uint64_t sequence = number(turn.state().last_key());
    for (std::size_t i = 0; i < archived.size(); ++i) {
      if (!messages.messages[i]) {
        results.push_back(std::unexpected(messages.messages[i].error()));
        continue;
      }
      const auto slot = queue::find_delivered(turn.state(), queue, archived[i].handle);
      const Peeked& seen = messages.messages[i]->message;
      const MessageKey key = seen.mark.key;
      const bool same = slot && turn.state().messages()[*slot].body == seen.body &&
                        std::ranges::find(gone, key) == gone.end();
      if (!same) {
        results.push_back(
            fail(ErrorCode::resource_not_found, "The message has changed in the meantime."));
        continue;
      }
      const Uuid lineage = messages.messages[i]->lineage;
      const auto& history = seen.history;
      const Uuid message_id = history && history->message_id ? *history->message_id : lineage;
      changes.push_back(queue::MessageArchived{
          queue.key, key, ++sequence, lineage, message_id, actor, reason, archived[i].place});
      gone.push_back(key);
      results.push_back({});
    }
    if (changes.size() > names) turn.commit(changes);
    queue.traffic.deleted += gone.size();
    return results;
  });
}

Result<std::vector<Unarchived>> Lineages::unarchive(const queue::QueueIdentity& identity,
                                                    std::span<const Unarchive> messages,
                                                    const Actor& by) {
  RETURN_IF_ERROR(engine_.check_space());
  return engine_.turn([&](Turn& turn) -> Result<std::vector<Unarchived>> {
    queue::Queue& queue = *TRY(turn.queue(identity));
    std::vector<Unarchived> results;
    for (const Unarchive& message : messages) {
      results.push_back(unarchive_one(turn, queue, message, by));
    }
    return results;
  });
}

}  // namespace redrive::dead_letters
