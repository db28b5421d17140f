#include "dead_letters/groups/groups.h"

#include <map>
#include <set>

#include "dead_letters/groups/group_rules.h"
#include "dead_letters/triage/fingerprint.h"
#include "dead_letters/view/stored_view.h"

namespace redrive::dead_letters {

// A dead letter that has no group yet: copies of what it takes to find one.
struct Ungrouped {
  queue::MessageKey key;
  queue::QueueKey queue;
  queue::BodyRef body;
  std::optional<queue::ErrorText> error;
  std::string source;
  triage::AttemptEnds ends;
  KnownMessage known;  // For rules about groups; empty when there are none.
};

namespace {

using engine::BodyPins;
using engine::Turn;
using queue::Change;
using queue::FailureGroupKey;

constexpr std::size_t kGroupedPerSlice = 256;

triage::AttemptEnds ends_of(const queue::History& history) {
  triage::AttemptEnds ends;
  for (const queue::Attempt& attempt : history.attempts) {
    ends.expired += attempt.end == queue::AttemptEnd::visibility_expired;
    ends.released += attempt.end == queue::AttemptEnd::released;
    ends.failed += attempt.end == queue::AttemptEnd::failed;
  }
  return ends;
}

Ungrouped ungrouped_at(const queue::State& state, queue::Slot slot) {
  const queue::History& history = *state.messages().history_if(slot);
  Ungrouped found{.key = state.messages()[slot].key,
                  .queue = state.queue_of(slot),
                  .body = state.messages()[slot].body,
                  .error = {},
                  .source = state.name(history.dead_letter_source),
                  .ends = ends_of(history)};
  if (const queue::ErrorText* error = last_error(state, slot)) found.error = *error;
  return found;
}

queue::GroupIdentity identify(const Ungrouped& message, std::string_view body) {
  triage::DeadMessage dead{
      .failure = {}, .source_queue = message.source, .attempts = message.ends, .body = body};
  if (message.error) {
    dead.failure = triage::FailureReport{.error_type = message.error->type,
                                         .error_message = message.error->message,
                                         .stack_trace = message.error->stack,
                                         .fingerprint = message.error->fingerprint};
  }
  triage::Fingerprint print = triage::fingerprint(dead);
  return {.id = print.id.bytes,
          .basis = static_cast<std::uint8_t>(print.basis),
          .title = std::move(print.title),
          .reason = std::move(print.reason)};
}

struct ReadyRule {
  queue::GroupRule rule;
  RuleFilter filter;
};
using ReadyRules = std::map<queue::QueueKey, std::vector<ReadyRule>>;

ReadyRules make_ready(const std::map<queue::QueueKey, std::vector<queue::GroupRule>>& rules) {
  ReadyRules ready;
  for (const auto& [queue, own] : rules) {
    for (const queue::GroupRule& rule : own) ready[queue].push_back({rule, RuleFilter(rule)});
  }
  return ready;
}

// What the rules made by hand say instead, one after another.
queue::GroupIdentity follow_rules(const std::vector<ReadyRule>& rules, const Ungrouped& message,
                                  const store::StoredMessage* stored,
                                  queue::GroupIdentity identity) {
  for (const auto& [rule, filter] : rules) {
    if (rule.from != identity.id) continue;
    if (rule.merges() || (stored != nullptr && filter.chooses(message.known, *stored))) {
      identity = rule.into;
    }
  }
  return identity;
}

// Where a queue has as many groups as are kept, and all in use, the rest are together.
queue::GroupIdentity others() {
  return {.id = {},
          .basis = static_cast<std::uint8_t>(triage::Basis::shape),
          .title = "Other failures",
          .reason = "The queue has more kinds of failures than can be distinguished."};
}

// Finds or makes the groups of a batch of messages, all facts of one record.
class Grouping {
 public:
  Grouping(const queue::State& state, std::vector<Change>& changes)
      : state_(state), changes_(changes), last_(state.last_group()) {}

  void add(const Ungrouped& message, queue::GroupIdentity identity) {
    const queue::Slot slot = state_.messages().find(message.key);
    if (slot == queue::kNoSlot || state_.is_buried(slot) || !state_.wants_group(slot) ||
        state_.queue_of(slot) != message.queue) {
      return;
    }
    // One that was restored since it died stands twice in the list.
    if (!grouped_.insert(message.key).second) return;
    changes_.push_back(
        queue::MessageGrouped{message.key, message.queue, group(message.queue, identity)});
  }

 private:
  FailureGroupKey group(queue::QueueKey queue, queue::GroupIdentity& identity) {
    if (const auto key = known(queue, identity.id); key != FailureGroupKey::none) return key;
    if (!state_.has_room_for_group(queue)) {
      identity = others();
      if (const auto key = known(queue, identity.id); key != FailureGroupKey::none) return key;
    }
    last_ = next(last_);
    fresh_[{queue, identity.id}] = last_;
    changes_.push_back(queue::GroupLearned{last_, queue, std::move(identity)});
    return last_;
  }

  FailureGroupKey known(queue::QueueKey queue, const queue::State::GroupId& id) const {
    if (const auto* group = state_.find_group(queue, id)) return group->key;
    const auto found = fresh_.find({queue, id});
    return found == fresh_.end() ? FailureGroupKey::none : found->second;
  }

  const queue::State& state_;
  std::vector<Change>& changes_;
  FailureGroupKey last_;
  std::set<queue::MessageKey> grouped_;
  std::map<std::pair<queue::QueueKey, queue::State::GroupId>, FailureGroupKey> fresh_;
};

}  // namespace

bool Groups::maintain() {
  const bool ungrouped = group_some(kGroupedPerSlice) > 0;
  return apply_rules() || ungrouped;
}

// As many as a turn has time for: where a queue has as many groups as it may have, all of them are
// looked at to find one that makes room.
void Groups::group_some(Turn& turn, std::span<const Ungrouped> messages,
                        std::span<queue::GroupIdentity> identities, std::size_t& at,
                        std::uint64_t rules_version) {
  std::vector<Change> changes;
  Grouping grouping(turn.state(), changes);
  for (; at < messages.size() && !turn.is_spent(); ++at) {
    queue::Queue* const queue = turn.find(messages[at].queue);
    if (queue == nullptr) continue;
    turn.advance(*queue);
    // Which group is empty is known when nothing is left that has expired; and with other rules the
    // message may belong elsewhere.
    if (queue->is_behind() || turn.state().group_rules_version() != rules_version) {
      turn.store().state().put_back_ungrouped(messages[at].key);
    } else {
      grouping.add(messages[at], std::move(identities[at]));
    }
  }
  if (!changes.empty()) turn.commit(changes);
}

std::size_t Groups::group_some(std::size_t max) {
  std::vector<Ungrouped> messages;
  std::map<queue::QueueKey, std::vector<queue::GroupRule>> rules;
  std::uint64_t rules_version = 0;
  BodyPins pins(engine_.store());
  const std::size_t left = engine_.turn([&](Turn& turn) {
    queue::State& state = turn.store().state();
    rules_version = state.group_rules_version();
    for (const queue::MessageKey key : state.take_ungrouped(max)) {
      const queue::Slot slot = state.messages().find(key);
      if (slot == queue::kNoSlot || state.is_buried(slot) || !state.wants_group(slot)) continue;
      Ungrouped& message = messages.emplace_back(ungrouped_at(state, slot));
      pins.add(message.body);
      auto [known, fresh] = rules.try_emplace(message.queue);
      if (fresh) known->second = state.group_rules_of(message.queue);
      if (!known->second.empty()) message.known = known_of(state, slot);
    }
    return state.ungrouped();
  });
  if (messages.empty()) return left;
  ReadyRules ready = make_ready(rules);
  std::vector<queue::GroupIdentity> identities;
  std::string bytes;
  for (const Ungrouped& message : messages) {
    const auto stored = engine_.read_message(message.key, message.body, bytes);
    auto identity = identify(message, stored ? stored->contents.body : std::string_view());
    identities.push_back(follow_rules(
        ready[message.queue], message, stored ? &*stored : nullptr, std::move(identity)));
  }
  std::size_t at = 0;
  while (true) {
    const std::size_t rest = engine_.turn([&](Turn& turn) {
      group_some(turn, messages, identities, at, rules_version);
      return turn.state().ungrouped();
    });
    if (at == messages.size()) return rest;
    engine_.give_way();
  }
}

}  // namespace redrive::dead_letters
