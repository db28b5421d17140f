#include "dead_letters/damage/damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "core/queue/hidden_queues.h"

namespace redrive::dead_letters {
namespace {

using engine::BodyPins;
using engine::Turn;
using engine::Unreadable;
using queue::Change;
using queue::MessageKey;
using queue::QueueIdentity;
using queue::Slot;

constexpr std::string_view kRetryActor = "retry";
// One slice of looking for more damage: so many slots are passed over in turn, and so many messages
// are read outside of it.
constexpr Slot kExaminedSlots = 8'192;
constexpr std::size_t kExaminedPerSlice = 64;
// A list of keys is worked off so many to a record.
constexpr std::size_t kKeysPerTurn = 256;
constexpr std::size_t kCountedPerTurn = 256;

// The queue that takes this queue's damaged messages, created when there is none yet.
queue::Queue& damaged_for(Turn& turn, const QueueIdentity& identity) {
  queue::QueueSettings settings;
  settings.retention = kDamagedRetention;
  return turn.hidden_queue(queue::damaged_of(identity), settings);
}

bool is_damage(const Error& error) {
  return error.code == ErrorCode::storage_damaged;
}

// The event by which it came here is always the last: nothing else happens to it here.
const queue::LineageEvent* arrival_of(const queue::State& state, Slot slot) {
  const queue::History* history = state.messages().history_if(slot);
  return history == nullptr || history->events.empty() ? nullptr : &history->events.back();
}

DamagedMessage describe_damaged(const queue::State& state, const queue::Queue& queue, Slot slot,
                                const queue::Stamp& stamp) {
  const queue::Message& message = state.messages()[slot];
  DamagedMessage out{
      .mark = state.mailbox(queue).age_of(slot),
      .body = message.body,
      .queue_arn = {},
      .message_id = {},
      .error = {},
      .found_wall = {},
      .expires_wall = stamp.wall + (message.sent_at + queue.settings.retention - stamp.now),
      .receive_count = message.receive_count,
      .group = std::string(state.group_of(slot)),
      .dead_letter_source = {}};
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr) return out;
  out.message_id = history->message_id;
  out.dead_letter_source = state.name(history->dead_letter_source);
  if (const queue::LineageEvent* arrival = arrival_of(state, slot)) {
    out.queue_arn = state.name(arrival->from);
    out.error = state.name(arrival->reason);
    out.found_wall = arrival->wall;
  }
  return out;
}

// The id that the damaged bytes give, unless the damage may be in the id itself: the key and the
// four bytes of the id that are in memory do not prove the rest of it.
std::optional<Uuid> id_in_bytes(const store::Store& store, const queue::Message& message,
                                Timestamp now) {
  std::string bytes(message.body.size, '\0');
  if (!store.read(message.body, bytes.data())) return std::nullopt;
  return store::credible_message_id(bytes, message.key, message.lineage_mark, now);
}

// The queue that such a message is to leave; null when it is gone or has changed since it was read.
// A held message is left to its consumer, which may have received good bytes and delete it yet.
const queue::Queue* find_unreadable(Turn& turn, const Unreadable& one) {
  const queue::State& state = turn.state();
  const Slot found = state.messages().find(one.key);
  if (found == queue::kNoSlot || state.is_buried(found)) return nullptr;
  queue::Queue* queue = turn.find(state.queue_of(found));
  if (queue == nullptr || queue->identity.is_damaged()) return nullptr;
  turn.advance(*queue);
  const Slot slot = state.find_message(*queue, one.key);
  if (slot == queue::kNoSlot || state.messages()[slot].body != one.body) return nullptr;
  const bool held = state.messages()[slot].phase == queue::Phase::in_flight;
  return held && one.delivery != state.generation(slot) ? nullptr : queue;
}

}  // namespace

void Damage::start(Turn& turn) {
  suspect_segments_ = turn.store().damaged_segments();
}

void Damage::found_damage(const Unreadable& found) {
  const engine::Sequence before = engine_.appended();
  engine_.turn([&](Turn& turn) { set_aside(turn, std::span(&found, 1)); });
  engine_.sync_since(before);
}

void Damage::set_aside(Turn& turn, std::span<const Unreadable> found) {
  if (found.empty()) return;
  // Queues first: to make one is a record of its own.
  std::map<MessageKey, std::pair<const queue::Queue*, std::string_view>> leaving;
  for (const Unreadable& one : found) {
    const queue::Queue* queue = find_unreadable(turn, one);
    if (queue == nullptr) continue;
    damaged_for(turn, queue->identity);
    leaving[one.key] = {queue, one.error};
    suspect_segments_.insert(one.body.segment);
  }
  if (leaving.empty()) return;
  std::vector<Change> changes;
  for (const auto& [key, why] : leaving) turn.name(why.second, changes);
  if (!changes.empty()) turn.commit(changes);  // So that notices can name the error.
  changes.clear();
  std::uint64_t sequence = number(turn.state().last_key());
  for (const auto& [key, why] : leaving) {
    changes.push_back(queue::MessageDamaged{.key = key,
                                            .from = why.first->key,
                                            .to = damaged_for(turn, why.first->identity).key,
                                            .sequence = ++sequence,
                                            .error = turn.state().find_name(why.second)});
  }
  turn.commit(changes);
}

// One slice of reading the other messages of damaged segments.
bool Damage::maintain() {
  std::vector<std::pair<MessageKey, queue::BodyRef>> messages;
  BodyPins pins(engine_.store());
  const bool more = engine_.turn([&](Turn& turn) {
    if (examination_.segments.empty()) {
      examination_ = {.segments = std::exchange(suspect_segments_, {})};
    }
    if (examination_.segments.empty()) return false;
    const queue::State& state = turn.state();
    const queue::MessageTable& table = state.messages();
    const Slot end = std::min<Slot>(table.end(), examination_.slot + kExaminedSlots);
    for (; examination_.slot < end && messages.size() < kExaminedPerSlice; ++examination_.slot) {
      const queue::Message& message = table[examination_.slot];
      if (message.key == MessageKey::none || state.is_buried(examination_.slot)) continue;
      if (examination_.slot % 16 == 0) turn.state().count_work(1);
      if (!examination_.segments.contains(message.body.segment)) continue;
      messages.emplace_back(message.key, message.body);
      pins.add(message.body);
    }
    if (examination_.slot >= table.end()) examination_ = {};
    return !examination_.segments.empty();
  });
  std::vector<Unreadable> found;
  std::string bytes;
  for (const auto& [key, body] : messages) {
    const auto stored = engine_.store().read_message(key, body, bytes);
    if (!stored && is_damage(stored.error())) {
      found.push_back({.key = key, .body = body, .error = stored.error().message});
    }
  }
  if (found.empty()) return more;
  engine_.turn([&](Turn& turn) {
    auto examined = suspect_segments_;  // These are being examined already.
    set_aside(turn, found);
    suspect_segments_ = std::move(examined);
  });
  return more;
}

Result<DamagedPage> Damage::list(const QueueIdentity& identity,
                                 const queue::Mailbox::AgeMark& after, std::size_t max) {
  DamagedPage page;
  std::vector<queue::Message> unnamed;
  BodyPins pins(engine_.store());
  RETURN_IF_ERROR(engine_.turn([&](Turn& turn) -> Result<void> {
    TRY(turn.queue(identity));
    page.wall = turn.stamp().wall;
    queue::Queue* queue = turn.find(queue::damaged_of(identity));
    if (queue == nullptr) return {};
    turn.advance(*queue);
    const queue::Mailbox& box = turn.state().mailbox(*queue);
    page.total = box.size();
    auto slots = box.page(after, max + 1);
    page.more = slots.size() > max;
    if (page.more) slots.pop_back();
    for (const Slot slot : slots) {
      page.messages.push_back(describe_damaged(turn.state(), *queue, slot, turn.stamp()));
      unnamed.push_back(turn.state().messages()[slot]);
      pins.add(unnamed.back().body);
    }
    return {};
  }));
  for (std::size_t i = 0; i < unnamed.size(); ++i) {
    DamagedMessage& message = page.messages[i];
    if (!message.message_id)
      message.message_id = id_in_bytes(engine_.store(), unnamed[i], page.wall);
  }
  return page;
}

std::map<QueueIdentity, std::size_t> Damage::counts() {
  std::map<QueueIdentity, std::size_t> counts;
  QueueIdentity after;
  while (engine_.turn([&](Turn& turn) {
    const auto& queues = turn.state().damaged_queues();
    auto at = queues.upper_bound(after);
    for (std::size_t i = 0; i < kCountedPerTurn && at != queues.end() && !turn.is_spent(); ++i) {
      turn.advance(*at->second);
      turn.state().count_work(1);
      after = at->first;
      QueueIdentity of = after;
      of.name.resize(of.name.size() - queue::kDamagedSuffix.size());
      counts[of] = turn.state().mailbox(*at->second).size();
      ++at;
    }
    return at != queues.end();
  })) {
    engine_.give_way();
  }
  return counts;
}

Result<std::size_t> Damage::drop(const QueueIdentity& identity, std::span<const MessageKey> keys) {
  std::size_t dropped = 0;
  while (!keys.empty()) {
    const auto some = keys.first(std::min(keys.size(), kKeysPerTurn));
    keys = keys.subspan(some.size());
    RETURN_IF_ERROR(engine_.turn([&](Turn& turn) -> Result<void> {
      TRY(turn.queue(identity));
      const queue::Queue& damaged = damaged_for(turn, identity);
      std::vector<Change> changes;
      for (const MessageKey key : std::set<MessageKey>(some.begin(), some.end())) {
        if (turn.state().find_message(damaged, key) == queue::kNoSlot) continue;
        changes.push_back(queue::MessageDeleted{damaged.key, key});
      }
      if (!changes.empty()) turn.commit(changes);
      dropped += changes.size();
      return {};
    }));
    if (!keys.empty()) engine_.give_way();
  }
  return dropped;
}

void Damage::drop_unreadable(std::span<const Unreadable> found, std::vector<std::string>& lines) {
  engine_.turn([&](Turn& turn) {
    const queue::State& state = turn.state();
    std::vector<Unreadable> held(found.begin(), found.end());
    for (Unreadable& one : held) {
      const Slot slot = state.messages().find(one.key);
      if (slot != queue::kNoSlot) one.delivery = state.generation(slot);
    }
    set_aside(turn, held);
    std::vector<Change> changes;
    for (const Unreadable& one : held) {
      const Slot slot = state.messages().find(one.key);
      if (slot == queue::kNoSlot || state.is_buried(slot)) continue;
      const queue::Queue& queue = *state.find(state.queue_of(slot));
      if (!queue.identity.is_damaged()) continue;
      changes.push_back(queue::MessageDeleted{queue.key, one.key});
      const std::string name =
          queue.identity.name.substr(0, queue.identity.name.size() - queue::kDamagedSuffix.size());
      lines.push_back(
          fmt::format("message {} of {} dropped: {}", number(one.key), name, one.error));
    }
    if (!changes.empty()) turn.commit(changes);
  });
}

// Whether the message is back where it was: not if its queue is gone.
bool Damage::restore(Turn& turn, const QueueIdentity& identity, MessageKey key,
                     std::string_view actor) {
  const queue::Queue& damaged = damaged_for(turn, identity);
  const Slot slot = turn.state().find_message(damaged, key);
  if (slot == queue::kNoSlot) return false;
  const queue::LineageEvent* arrival = arrival_of(turn.state(), slot);
  const queue::Queue* to =
      arrival == nullptr ? nullptr : turn.state().find_by_arn(turn.state().name(arrival->from));
  if (to == nullptr) return false;
  std::vector<Change> changes;
  const queue::NameIndex by = turn.name(actor, changes);
  changes.push_back(
      queue::MessageRestored{key, damaged.key, to->key, number(turn.state().last_key()) + 1, by});
  turn.commit(changes);
  return true;
}

Result<std::size_t> Damage::retry(const QueueIdentity& identity, std::span<const MessageKey> keys,
                                  const engine::Actor& by) {
  std::size_t restored = 0;
  std::string bytes;
  for (const MessageKey key : std::set<MessageKey>(keys.begin(), keys.end())) {
    queue::BodyRef body;
    BodyPins pins(engine_.store());
    const auto there = engine_.turn([&](Turn& turn) -> Result<bool> {
      TRY(turn.queue(identity));
      const Slot slot = turn.state().find_message(damaged_for(turn, identity), key);
      if (slot == queue::kNoSlot) return false;
      body = turn.state().messages()[slot].body;
      pins.add(body);
      return true;
    });
    if (!TRY(there) || !engine_.store().read_message(key, body, bytes)) continue;
    restored += engine_.turn([&](Turn& turn) {
      return restore(turn, identity, key, by.name.empty() ? kRetryActor : by.name) ? 1 : 0;
    });
  }
  return restored;
}

}  // namespace redrive::dead_letters
