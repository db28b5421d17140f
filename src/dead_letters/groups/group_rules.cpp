#include "dead_letters/groups/group_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/digest.h"
#include "dead_letters/groups/groups.h"
#include "dead_letters/triage/characters.h"
#include "dead_letters/triage/fingerprint.h"

namespace redrive::dead_letters {
namespace {

using engine::Actor;
using engine::BodyPins;
using engine::Turn;
using queue::Change;
using queue::FailureGroupKey;
using GroupId = queue::State::GroupId;

constexpr std::size_t kRegroupedPerSlice = 256;

Result<const queue::FailureGroup*> group_in(const queue::State& state, const queue::Queue& queue,
                                            const GroupId& id) {
  const queue::FailureGroup* group = state.find_group(queue.key, id);
  if (group != nullptr) return group;
  return fail(ErrorCode::resource_not_found,
              fmt::format("The queue has no failure group {}.", triage::GroupId{id}.text()));
}

// The same for the same group and filter.
GroupId split_id(const queue::Queue& queue, const GroupId& from, std::string_view filter) {
  const std::string text =
      fmt::format("split {} {} {}", queue.identity.arn(), triage::GroupId{from}.text(), filter);
  const auto digest = sha256(text);
  GroupId id{};
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

queue::GroupIdentity split_identity(const queue::Queue& queue, const queue::FailureGroup& from,
                                    std::string_view filter, std::string_view title) {
  return {
      .id = split_id(queue, from.identity.id, filter),
      .basis = static_cast<std::uint8_t>(triage::Basis::explicit_key),
      .title = title.empty() ? from.identity.title + " (split)" : std::string(title),
      .reason = triage::cut(fmt::format("Split from {}: {}", from.identity.title, filter), 1024)};
}

// The number of the rule: of a new one, or of the same that is there already.
Result<std::uint32_t> add_rule(Turn& turn, const queue::Queue& queue, queue::GroupRule rule,
                               const Actor& by) {
  const auto rules = turn.state().group_rules_of(queue.key);
  const auto same = std::ranges::find_if(rules, [&](const queue::GroupRule& known) {
    return known.from == rule.from && known.filter == rule.filter && known.into.id == rule.into.id;
  });
  if (same != rules.end()) return same->number;
  if (rules.size() >= queue::kGroupRulesPerQueue) {
    return fail(
        ErrorCode::invalid_parameter_value,
        fmt::format("A queue can have at most {} group rules. Remove one that is no longer needed.",
                    queue::kGroupRulesPerQueue));
  }
  std::vector<Change> changes;
  rule.number = rules.empty() ? 1 : rules.back().number + 1;
  rule.made_by = turn.name(by.name, changes);
  rule.made_wall = turn.stamp().wall;
  changes.push_back(queue::GroupRuled{queue.key, rule});
  turn.commit(changes);
  return rule.number;
}

}  // namespace

RuleFilter::RuleFilter(const queue::GroupRule& rule) {
  if (rule.merges()) return;
  if (auto parsed = triage::Filter::parse(rule.filter)) filter_ = *std::move(parsed);
}

bool RuleFilter::chooses(const KnownMessage& known, const store::StoredMessage& stored) const {
  return filter_ && filter_->matches(StoredView(stored).subject(known));
}

// Dead letters of a group to which a new rule may apply: copies of what it takes to find out.
struct Groups::Regrouping {
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

Result<std::uint32_t> Groups::merge(const queue::QueueIdentity& identity, const GroupId& from,
                                    const GroupId& into, const Actor& by) {
  return engine_.turn([&](Turn& turn) -> Result<std::uint32_t> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    TRY(group_in(turn.state(), queue, from));
    const queue::FailureGroup& target = *TRY(group_in(turn.state(), queue, into));
    if (from == into) {
      return fail(ErrorCode::invalid_parameter_value, "A group cannot be merged into itself.");
    }
    return add_rule(turn, queue, {.from = from, .into = target.identity}, by);
  });
}

Result<Groups::SplitRule> Groups::split(const queue::QueueIdentity& identity, const GroupId& from,
                                        std::string_view filter, std::string_view title,
                                        const Actor& by) {
  RETURN_IF_ERROR(triage::Filter::parse(filter));
  if (filter.empty() || filter.size() > queue::kGroupRuleFilterBytesMax ||
      title.size() > triage::kTitleBytesMax) {
    return fail(
        ErrorCode::invalid_parameter_value,
        fmt::format("A split requires a filter of at most {} bytes and a title of at most {}.",
                    queue::kGroupRuleFilterBytesMax,
                    triage::kTitleBytesMax));
  }
  return engine_.turn([&](Turn& turn) -> Result<SplitRule> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::FailureGroup& group = *TRY(group_in(turn.state(), queue, from));
    queue::GroupIdentity into = split_identity(queue, group, filter, title);
    const GroupId id = into.id;
    const std::uint32_t number = TRY(add_rule(
        turn, queue, {.from = from, .filter = std::string(filter), .into = std::move(into)}, by));
    return SplitRule{number, id};
  });
}

Result<void> Groups::remove_rule(const queue::QueueIdentity& identity, std::uint32_t number) {
  return engine_.turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    if (!turn.state().group_rules().contains({queue.key, number})) {
      return fail(ErrorCode::resource_not_found,
                  fmt::format("The queue has no group rule {}.", number));
    }
    turn.commit(queue::GroupRuleRemoved{queue.key, number});
    return {};
  });
}

// The next messages that the first rule which is not applied yet is for. False: there is none.
bool Groups::choose_regrouping(Turn& turn, Regrouping& work) {
  const queue::State& state = turn.state();
  if (state.new_group_rules().empty()) return false;
  const auto at = state.group_rules().find(*state.new_group_rules().begin());
  work.queue = at->first.first;
  work.rule = at->second;
  queue::Queue& queue = *turn.find(work.queue);
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

void Groups::finish_regrouping(Turn& turn, const Regrouping& work) {
  const queue::State& state = turn.state();
  queue::Queue* const queue = turn.find(work.queue);
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

bool Groups::apply_rules() {
  std::unique_lock order(regroup_mutex_, std::try_to_lock);
  if (!order) return true;  // Another thread is at it.
  Regrouping work;
  BodyPins pins(engine_.store());
  const bool found = engine_.turn([&](Turn& turn) {
    if (!choose_regrouping(turn, work)) return false;
    for (const auto& candidate : work.candidates) pins.add(candidate.body);
    return true;
  });
  if (!found) return false;
  const RuleFilter filter(work.rule);
  std::string bytes;
  for (auto& candidate : work.candidates) {
    candidate.chosen = work.rule.merges();
    if (candidate.chosen) continue;
    const auto stored = engine_.read_message(candidate.key, candidate.body, bytes);
    candidate.chosen = stored && filter.chooses(candidate.known, *stored);
  }
  engine_.turn([&](Turn& turn) { finish_regrouping(turn, work); });
  return true;
}

}  // namespace redrive::dead_letters
