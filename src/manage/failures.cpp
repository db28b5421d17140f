// Failure reports of consumers, and failure groups.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/calendar.h"
#include "core/queue/consumer_name.h"
#include "dead_letters/groups/mark.h"
#include "dead_letters/triage/fingerprint.h"
#include "dead_letters/triage/rank.h"
#include "manage/deploys.h"
#include "manage/group_view.h"
#include "manage/id_prefix.h"
#include "manage/in_turns.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

using queue::GroupStatus;

constexpr std::size_t kDistinctionsMax = 5;
// Dead letters that have just arrived are grouped before groups are listed.
constexpr std::size_t kGroupedAtOnce = 256;
constexpr int kGroupingRounds = 16;
constexpr std::size_t kNoteBytesMax = 4096;
constexpr std::size_t kOwnerBytesMax = 256;
constexpr std::size_t kGroupsPerTurn = 64;
constexpr std::size_t kQueuesPerTurn = 256;

constexpr std::pair<std::string_view, GroupStatus> kStatuses[] = {
    {"new", GroupStatus::fresh},
    {"known", GroupStatus::known},
    {"regressed", GroupStatus::regressed},
    {"ignored", GroupStatus::ignored},
    {"resolved", GroupStatus::resolved},
};

std::string_view status_name(GroupStatus status) {
  for (const auto& [name, value] : kStatuses) {
    if (value == status) return name;
  }
  return "new";
}

Result<queue::Disposition> disposition_of(const documents::FailureReport& input) {
  if (!input.disposition) return queue::Disposition::none;
  if (*input.disposition == "retry") return queue::Disposition::retry;
  if (*input.disposition == "dead-letter") return queue::Disposition::dead_letter;
  return fail(ErrorCode::invalid_parameter_value, "`disposition` is `retry` or `dead-letter`.");
}

std::string_view queue_name(std::string_view arn) {
  return arn.substr(arn.rfind(':') + 1);
}

}  // namespace

documents::FailureGroup describe_group(Call& call, const queue::State& state,
                                       const queue::FailureGroup& group, Timestamp wall) {
  const auto& arrivals = group.arrivals;
  const queue::GroupStatus status = group.status_at(wall);
  const queue::Queue* const queue = state.find(group.queue);
  documents::FailureGroup out{
      .queue = queue == nullptr ? std::string_view() : call.keep(queue->identity.name),
      .id = call.keep(triage::GroupId{group.identity.id}.text()),
      .title = call.keep(group.identity.title),
      .status = status_name(status),
      .count = static_cast<std::int64_t>(group.count),
      .total = static_cast<std::int64_t>(arrivals.total),
      .failed_again = static_cast<std::int64_t>(arrivals.failed_again),
      .first_seen = call.keep(format_utc(arrivals.first_wall)),
      .last_seen = call.keep(format_utc(arrivals.last_wall)),
      .escalating = arrivals.is_escalating(wall),
      .basis = triage::name_of(static_cast<triage::Basis>(group.identity.basis)),
      .why_grouped = call.keep(group.identity.reason),
      .note = call.keep(group.note),
      .owner = call.keep(group.owner)};
  for (const std::uint32_t count : arrivals.lately(wall)) out.hourly.push_back(count);
  for (const std::uint32_t count : arrivals.daily(wall)) out.daily.push_back(count);
  if (status == queue::GroupStatus::ignored) {
    if (group.ignored_until != Timestamp()) {
      out.ignored_until = call.keep(format_utc(group.ignored_until));
    }
    if (group.ignored_to_total != 0) {
      out.ignored_to_total = static_cast<std::int64_t>(group.ignored_to_total);
    }
  }
  for (const queue::NameIndex name : arrivals.sources) {
    out.sources.push_back(call.keep(std::string(queue_name(state.name(name)))));
  }
  std::set<std::string> consumers;  // Several may differ in their code only.
  for (const queue::NameIndex name : arrivals.consumers) {
    consumers.insert(queue::parse_consumer_name(state.name(name)).plain());
  }
  for (const std::string& name : consumers) out.consumers.push_back(call.keep(name));
  if (group.marked_by != queue::NameIndex::none) {
    out.marked_by = call.keep(state.name(group.marked_by));
  }
  for (const queue::MessageKey key : group.samples) {
    const queue::Slot slot = state.messages().find(key);
    const auto* history = slot == queue::kNoSlot ? nullptr : state.messages().history_if(slot);
    if (history != nullptr && history->group == group.key) {
      out.sample = static_cast<std::int64_t>(number(key));
    }
  }
  return out;
}

namespace {

// The queues that the dead letters of a group came from.
std::vector<queue::QueueIdentity> sources_of(const queue::State& state,
                                             const queue::FailureGroup& group) {
  std::vector<queue::QueueIdentity> sources;
  for (const queue::NameIndex name : group.arrivals.sources) {
    const queue::Queue* const source = state.find_by_arn(state.name(name));
    if (source != nullptr) sources.push_back(source->identity);
  }
  return sources;
}

// The queues whose dead letters come to this one.
std::vector<queue::QueueIdentity> sources_of(engine::Engine& engine,
                                             const queue::QueueIdentity& dead_letter_queue) {
  std::vector<queue::QueueIdentity> sources;
  const std::string arn = dead_letter_queue.arn();
  visit_in_turns(engine,
                 &queue::State::queues,
                 kQueuesPerTurn,
                 [&](engine::Turn&, const queue::QueueIdentity& identity, const auto& queue) {
                   const auto& redrive = queue->settings.redrive;
                   if (redrive && redrive->target_arn == arn) sources.push_back(identity);
                 });
  return sources;
}

Result<std::vector<documents::Distinction>> distinctions(
    Call& call, const queue::QueueIdentity& queue, queue::FailureGroupKey group,
    const std::vector<queue::QueueIdentity>& sources) {
  const auto dead = TRY(call.parts.dead_letters.groups.features(queue, group));
  triage::FeatureCounts processed;
  for (const auto& source : sources) processed.merge(call.parts.dead_letters.processed.of(source));
  std::vector<documents::Distinction> told;
  for (const auto& found : triage::rank(dead, processed, kDistinctionsMax)) {
    told.push_back({.kind = triage::name_of(found.kind),
                    .feature = call.keep(found.feature),
                    .sentence = call.keep(found.sentence),
                    .filter = call.keep(found.filter),
                    .dead_with = static_cast<std::int64_t>(found.dead_with),
                    .dead_total = static_cast<std::int64_t>(found.dead_total),
                    .processed_with = static_cast<std::int64_t>(found.processed_with),
                    .processed_total = static_cast<std::int64_t>(found.processed_total),
                    .score = found.score});
  }
  return told;
}

// A group that a rule has emptied permanently is not listed.
bool is_told(const queue::State& state, const queue::FailureGroup& group) {
  return group.count > 0 || state.merged_id(group.queue, group.identity.id) == group.identity.id;
}

bool comes_first(const documents::FailureGroup& a, const documents::FailureGroup& b) {
  return a.escalating && !b.escalating;
}

// The mark that a request describes.
Result<dead_letters::GroupMark> group_mark_of(const documents::GroupMark& input, Timestamp wall) {
  dead_letters::GroupMark mark{.note = input.note, .owner = input.owner};
  if (input.status) {
    const auto* status =
        std::ranges::find(kStatuses, *input.status, [](const auto& pair) { return pair.first; });
    if (status == std::end(kStatuses)) {
      return fail(ErrorCode::invalid_parameter_value,
                  "`status` is `new`, `known`, `regressed`, `ignored` or `resolved`.");
    }
    mark.status = status->second;
  }
  if (input.ignore_until) {
    mark.ignore_until = parse_utc(*input.ignore_until);
    if (!mark.ignore_until || *mark.ignore_until <= wall) {
      return fail(ErrorCode::invalid_parameter_value,
                  "`ignoreUntil` must be a time in the future, such as 2026-01-31T12:00:00Z.");
    }
  }
  if (input.ignore_count) mark.ignore_count = static_cast<std::uint64_t>(*input.ignore_count);
  return mark;
}

}  // namespace

Result<const queue::FailureGroup*> find_group(const queue::State& state, const queue::Queue& queue,
                                              std::string_view id) {
  if (const auto parsed = triage::GroupId::parse(id)) {
    if (const auto* group = state.find_group(queue.key, parsed->bytes)) return group;
  }
  std::vector<const queue::FailureGroup*> found;
  if (is_id_prefix(id)) {
    for (const queue::FailureGroup* group : state.groups_in(queue.key)) {
      const std::string text = triage::GroupId{group->identity.id}.text();
      if (has_id_prefix(text, id) && is_told(state, *group)) found.push_back(group);
    }
    state.count_work(state.groups_of(queue.key) / 16);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return fail(ErrorCode::resource_not_found,
                "The queue has no failure group with this id or prefix.");
  }
  std::vector<std::string> candidates;
  for (const auto* group : found) {
    candidates.push_back(triage::GroupId{group->identity.id}.text());
  }
  return ambiguous("failure groups", id, candidates);
}

void group_what_came(dead_letters::DeadLetters& dead_letters) {
  for (int i = 0; i < kGroupingRounds; ++i) {
    if (dead_letters.groups.group_some(kGroupedAtOnce) == 0) break;
  }
  for (int i = 0; i < kGroupingRounds && dead_letters.groups.apply_rules(); ++i) {
  }
}

Result<documents::FailureReceipt> report_failure(Call& call,
                                                 const documents::FailureReport& input) {
  const auto disposition = TRY(disposition_of(input));
  const auto queue = TRY(call.parts.engine.queue_of_handle(input.receipt_handle));
  RETURN_IF_ERROR(call.allow(queue));
  RETURN_IF_ERROR(call.parts.engine.report_failure(
      queue,
      {.handle = input.receipt_handle,
       .error = {.type = std::string(input.error_type),
                 .message = std::string(input.error_message),
                 .stack = std::string(input.stack_trace),
                 .fingerprint = std::string(input.fingerprint)},
       .disposition = disposition,
       .retry_after = std::chrono::seconds(input.retry_after_seconds.value_or(0))}));
  return documents::FailureReceipt{call.keep(queue.name)};
}

Result<documents::FailureGroups> list_groups(Call& call) {
  const queue::QueueIdentity identity = call.queue("queue");
  group_what_came(call.parts.dead_letters);
  documents::FailureGroups out;
  queue::QueueKey listed{};
  RETURN_IF_ERROR(call.parts.engine.turn([&](engine::Turn& turn) -> Result<void> {
    listed = TRY(turn.queue(identity))->key;
    // The number is that of the whole server.
    if (call.sees_all()) out.ungrouped = static_cast<std::int64_t>(turn.state().ungrouped());
    return {};
  }));
  std::vector<GroupCodes> codes;  // Of each group.
  visit_in_turns(
      call.parts.engine,
      &queue::State::groups,
      kGroupsPerTurn,
      [&](engine::Turn& turn, queue::FailureGroupKey, const queue::FailureGroup& group) {
        if (group.queue != listed || !is_told(turn.state(), group)) return;
        out.groups.push_back(describe_group(call, turn.state(), group, turn.stamp().wall));
        codes.push_back(codes_of(turn.state(), group));
      });
  for (std::size_t i = 0; i < codes.size(); ++i) tell_deploy(call, codes[i], out.groups[i]);
  const auto sources = sources_of(call.parts.engine, identity);
  std::ranges::stable_sort(out.groups, std::greater(), &documents::FailureGroup::count);
  std::ranges::stable_sort(out.groups, comes_first);
  out.sets_apart = TRY(distinctions(call, identity, queue::FailureGroupKey::none, sources));
  return out;
}

Result<documents::AllFailureGroups> list_all_groups(Call& call) {
  group_what_came(call.parts.dead_letters);
  documents::AllFailureGroups out;
  if (call.sees_all()) {
    out.ungrouped = call.parts.engine.turn(
        [](engine::Turn& turn) { return static_cast<std::int64_t>(turn.state().ungrouped()); });
  }
  visit_in_turns(call.parts.engine,
                 &queue::State::groups,
                 kGroupsPerTurn,
                 [&](engine::Turn& turn, queue::FailureGroupKey, const queue::FailureGroup& group) {
                   const queue::State& state = turn.state();
                   const queue::Queue* const queue = state.find(group.queue);
                   if (queue == nullptr || group.count == 0) return;
                   const bool theirs = queue->identity.account == call.caller.account &&
                                       queue->identity.region == call.caller.region;
                   if (!theirs || !call.allow(state, queue->identity)) return;
                   out.groups.push_back(describe_group(call, state, group, turn.stamp().wall));
                 });
  // The newest come first; times in UTC compare as texts.
  std::ranges::reverse(out.groups);
  std::ranges::stable_sort(out.groups, std::greater(), &documents::FailureGroup::first_seen);
  std::ranges::stable_sort(out.groups, comes_first);
  return out;
}

Result<documents::FailureGroup> show_group(Call& call) {
  const queue::QueueIdentity identity = call.queue("queue");
  group_what_came(call.parts.dead_letters);
  documents::FailureGroup out;
  queue::FailureGroupKey key{};
  std::vector<queue::QueueIdentity> sources;
  GroupCodes codes;
  RETURN_IF_ERROR(call.parts.engine.turn([&](engine::Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const auto* group = TRY(find_group(turn.state(), queue, call.parameter("group")));
    key = group->key;
    out = describe_group(call, turn.state(), *group, turn.stamp().wall);
    sources = sources_of(turn.state(), *group);
    codes = codes_of(turn.state(), *group);
    return {};
  }));
  tell_deploy(call, codes, out);
  out.marks = timeline_marks(call, identity, key);
  mark_deploys(out);
  out.sets_apart = TRY(distinctions(call, identity, key, sources));
  return out;
}

Result<documents::FailureGroup> mark_group(Call& call, const documents::GroupMark& input) {
  const queue::QueueIdentity identity = call.queue("queue");
  if (!input.status && !input.note && !input.owner && !input.ignore_until && !input.ignore_count) {
    return fail(ErrorCode::invalid_parameter_value,
                "Give `status`, `note`, `owner`, `ignoreUntil` or `ignoreCount`.");
  }
  if (input.note.value_or("").size() > kNoteBytesMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("`note` can have at most {} bytes.", kNoteBytesMax));
  }
  if (input.owner.value_or("").size() > kOwnerBytesMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("`owner` can have at most {} bytes.", kOwnerBytesMax));
  }
  return call.parts.engine.turn([&](engine::Turn& turn) -> Result<documents::FailureGroup> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const auto* group = TRY(find_group(turn.state(), queue, call.parameter("group")));
    const auto mark = TRY(group_mark_of(input, turn.stamp().wall));
    RETURN_IF_ERROR(dead_letters::mark_group(turn, *group, mark, call.keep(call.actor())));
    return describe_group(call, turn.state(), *group, turn.stamp().wall);
  });
}

}  // namespace redrive::manage
