// Failure groups merged and split by hand.

#include "engine/group_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/digest.h"
#include "dead_letter/characters.h"
#include "dead_letter/fingerprint.h"
#include "engine/engine.h"

namespace redrive::engine {
namespace {

using queue::Change;
using queue::FailureGroupKey;
using GroupId = queue::State::GroupId;

constexpr std::size_t kRegroupedPerSlice = 256;

Result<const queue::FailureGroup*> group_in(const queue::State& state, const queue::Queue& queue,
                                            const GroupId& id) {
  const queue::FailureGroup* group = state.find_group(queue.key, id);
  if (group != nullptr) return group;
  return fail(ErrorCode::resource_not_found,
              fmt::format("The queue has no failure group {}.", dead_letter::GroupId{id}.text()));
}

// The same for the same group and filter.
GroupId split_id(const queue::Queue& queue, const GroupId& from, std::string_view filter) {
  const std::string text = fmt::format(
      "split {} {} {}", queue.identity.arn(), dead_letter::GroupId{from}.text(), filter);
  const auto digest = sha256(text);
  GroupId id{};
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

queue::GroupIdentity split_identity(const queue::Queue& queue, const queue::FailureGroup& from,
                                    std::string_view filter, std::string_view title) {
  return {.id = split_id(queue, from.identity.id, filter),
          .basis = static_cast<std::uint8_t>(dead_letter::Basis::explicit_key),
          .title = title.empty() ? from.identity.title + " (split)" : std::string(title),
          .reason = dead_letter::cut(
              fmt::format("Split by hand from {}: {}", from.identity.title, filter), 1024)};
}

}  // namespace

bool rule_chooses(const queue::GroupRule& rule, const KnownMessage& known,
                  const store::StoredMessage& stored) {
  const auto filter = dead_letter::Filter::parse(rule.filter);
  return filter && filter->matches(StoredView(stored).subject(known));
}

// Dead letters of a group to which a new rule may apply: copies of what it takes to find out.
struct Engine::Regrouping {
  struct Candidate {
    queue::MessageKey key;
    queue::BodyRef body;
    KnownMessage known;
    bool chosen = false;
  };

  queue::QueueKey queue{};
  queue::GroupRule rule;
  std::vector<Candidate> candidates;
  bool last = false;  // There are no more behind these.
};

Result<std::uint32_t> Engine::add_group_rule(Turn& turn, const queue::Queue& queue,
                                             queue::GroupRule rule, const Signature& by) {
  const auto rules = turn.state().group_rules_of(queue.key);
  const auto same = std::ranges::find_if(rules, [&](const queue::GroupRule& known) {
    return known.from == rule.from && known.filter == rule.filter && known.into.id == rule.into.id;
  });
  if (same != rules.end()) return same->number;
  if (rules.size() >= queue::kGroupRulesPerQueue) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("A queue has at most {} rules about groups. Remove one that is not "
                            "needed any more.",
                            queue::kGroupRulesPerQueue));
  }
  std::vector<Change> changes;
  rule.number = rules.empty() ? 1 : rules.back().number + 1;
  rule.made_by = turn.name(by.actor, changes);
  rule.made_wall = turn.stamp().wall;
  changes.push_back(queue::GroupRuled{queue.key, rule});
  turn.commit(changes);
  return rule.number;
}

Result<std::uint32_t> Engine::merge_groups(const queue::QueueIdentity& identity,
                                           const GroupId& from, const GroupId& into,
                                           const Signature& by) {
  return turn([&](Turn& turn) -> Result<std::uint32_t> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    TRY(group_in(turn.state(), queue, from));
    const queue::FailureGroup& target = *TRY(group_in(turn.state(), queue, into));
    if (from == into) {
      return fail(ErrorCode::invalid_parameter_value, "A group cannot be merged into itself.");
    }
    return add_group_rule(turn, queue, {.from = from, .into = target.identity}, by);
  });
}

Result<Engine::SplitRule> Engine::split_group(const queue::QueueIdentity& identity,
                                              const GroupId& from, std::string_view filter,
                                              std::string_view title, const Signature& by) {
  CHECK(dead_letter::Filter::parse(filter));
  if (filter.empty() || filter.size() > queue::kGroupRuleFilterBytesMax ||
      title.size() > dead_letter::kTitleBytesMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("A split needs a filter of at most {} bytes and a title of at most {}.",
                            queue::kGroupRuleFilterBytesMax,
                            dead_letter::kTitleBytesMax));
  }
  return turn([&](Turn& turn) -> Result<SplitRule> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::FailureGroup& group = *TRY(group_in(turn.state(), queue, from));
    queue::GroupIdentity into = split_identity(queue, group, filter, title);
    const GroupId id = into.id;
    const std::uint32_t number = TRY(add_group_rule(
        turn, queue, {.from = from, .filter = std::string(filter), .into = std::move(into)}, by));
    return SplitRule{number, id};
  });
}

Result<void> Engine::remove_group_rule(const queue::QueueIdentity& identity, std::uint32_t number) {
  return turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    if (!turn.state().group_rules().contains({queue.key, number})) {
      return fail(ErrorCode::resource_not_found,
                  fmt::format("The queue has no rule {} about groups.", number));
    }
    turn.commit(queue::GroupRuleRemoved{queue.key, number});
    return {};
  });
}

// The next messages that the first rule which is not applied yet is for. False: there is none.
bool Engine::choose_regrouping(Turn& turn, Regrouping& work) {
  const queue::State& state = turn.state();
  const auto& rules = state.group_rules();
  const auto at =
      std::ranges::find_if(rules, [](const auto& entry) { return !entry.second.applied; });
  turn.state().count_work(rules.size() / 16);
  if (at == rules.end()) return false;
  work.queue = at->first.first;
  work.rule = at->second;
  queue::Queue& queue = *store_.state().find(work.queue);
  turn.advance(queue);
  RegroupPlace& place = regroup_place_;
  if (place.queue != work.queue || place.rule != work.rule.number) {
    place = {work.queue,
             work.rule.number,
             queue::Mailbox::AgeMark{Timestamp(std::numeric_limits<std::int64_t>::min())}};
  }
  const auto slots = state.mailbox(queue).page(place.after, kRegroupedPerSlice);
  turn.state().count_work(slots.size());
  work.last = slots.size() < kRegroupedPerSlice;
  if (!slots.empty()) place.after = state.mailbox(queue).age_of(slots.back());
  const queue::FailureGroup* from = state.find_group(work.queue, work.rule.from);
  for (const queue::Slot slot : slots) {
    const queue::History* history = state.messages().history_if(slot);
    if (from == nullptr || history == nullptr || history->group != from->key) continue;
    work.candidates.push_back({.key = state.messages()[slot].key,
                               .body = state.messages()[slot].body,
                               .known = known_of(state, slot)});
  }
  return true;
}

void Engine::finish_regrouping(Turn& turn, const Regrouping& work) {
  const queue::State& state = turn.state();
  queue::Queue* const queue = store_.state().find(work.queue);
  if (queue == nullptr || !state.group_rules().contains({work.queue, work.rule.number})) return;
  turn.advance(*queue);
  if (queue->is_behind()) {  // Which group is empty is not known yet: all of it once more.
    regroup_place_ = {};
    return;
  }
  std::vector<Change> changes;
  const queue::FailureGroup* from = state.find_group(work.queue, work.rule.from);
  const queue::FailureGroup* into = state.find_group(work.queue, work.rule.into.id);
  FailureGroupKey target = into == nullptr ? FailureGroupKey::none : into->key;
  for (const Regrouping::Candidate& candidate : work.candidates) {
    const queue::Slot slot = state.find_message(*queue, candidate.key);
    const queue::History* history =
        slot == queue::kNoSlot ? nullptr : state.messages().history_if(slot);
    const bool is_member = history != nullptr && from != nullptr && history->group == from->key;
    if (!candidate.chosen || !is_member) continue;
    if (target == FailureGroupKey::none) {
      if (!state.has_room_for_group(work.queue)) break;
      target = next(state.last_group());
      changes.push_back(queue::GroupLearned{target, work.queue, work.rule.into});
    }
    changes.push_back(queue::MessageGrouped{candidate.key, work.queue, target});
  }
  if (work.last) changes.push_back(queue::GroupRuleApplied{work.queue, work.rule.number});
  if (!changes.empty()) turn.commit(changes);
}

bool Engine::apply_group_rules() {
  std::unique_lock order(regroup_mutex_, std::try_to_lock);
  if (!order) return true;  // Another thread is at it.
  Regrouping work;
  BodyPins pins(store_);
  const bool found = turn([&](Turn& turn) {
    if (!choose_regrouping(turn, work)) return false;
    for (const auto& candidate : work.candidates) pins.add(candidate.body);
    return true;
  });
  if (!found) return false;
  std::string bytes;
  for (auto& candidate : work.candidates) {
    candidate.chosen = work.rule.merges();
    if (candidate.chosen) continue;
    const auto stored = read_message(candidate.key, candidate.body, bytes);
    candidate.chosen = stored && rule_chooses(work.rule, candidate.known, *stored);
  }
  turn([&](Turn& turn) { finish_regrouping(turn, work); });
  return true;
}

}  // namespace redrive::engine
