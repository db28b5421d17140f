// What consumers tell of failures, and the groups made of them.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/calendar.h"
#include "dead_letter/fingerprint.h"
#include "dead_letter/rank.h"
#include "manage/deploys.h"
#include "manage/in_turns.h"
#include "manage/operations.h"
#include "queue/consumer_name.h"

namespace redrive::manage {
namespace {

using queue::GroupStatus;

constexpr std::size_t kDistinctionsMax = 5;
// Dead letters that came in just now are grouped before groups are told.
constexpr std::size_t kGroupedAtOnce = 256;
constexpr int kGroupingRounds = 16;
constexpr std::size_t kNoteBytesMax = 4096;
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

// A group as told, without what sets it apart. In turn.
documents::FailureGroup describe(Call& call, const queue::State& state,
                                 const queue::FailureGroup& group, Timestamp wall) {
  const auto& arrivals = group.arrivals;
  documents::FailureGroup out{
      .id = call.keep(dead_letter::GroupId{group.identity.id}.text()),
      .title = call.keep(group.identity.title),
      .status = status_name(group.status),
      .count = static_cast<std::int64_t>(group.count),
      .total = static_cast<std::int64_t>(arrivals.total),
      .failed_again = static_cast<std::int64_t>(arrivals.failed_again),
      .first_seen = call.keep(format_utc(arrivals.first_wall)),
      .last_seen = call.keep(format_utc(arrivals.last_wall)),
      .basis = dead_letter::name_of(static_cast<dead_letter::Basis>(group.identity.basis)),
      .why_grouped = call.keep(group.identity.reason),
      .note = call.keep(group.note)};
  for (const std::uint32_t count : arrivals.lately(wall)) out.hourly.push_back(count);
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
  const auto dead = TRY(call.parts.engine.dead_features(queue, group));
  dead_letter::FeatureCounts processed;
  for (const auto& source : sources) processed.merge(call.parts.engine.processed(source));
  std::vector<documents::Distinction> told;
  for (const auto& found : dead_letter::rank(dead, processed, kDistinctionsMax)) {
    told.push_back({.kind = dead_letter::name_of(found.kind),
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

}  // namespace

Result<const queue::FailureGroup*> find_group(const queue::State& state, const queue::Queue& queue,
                                              std::string_view id) {
  const auto parsed = dead_letter::GroupId::parse(id);
  const auto* group = parsed ? state.find_group(queue.key, parsed->bytes) : nullptr;
  if (group == nullptr) {
    return fail(ErrorCode::resource_not_found, "The queue has no failure group with this id.");
  }
  return group;
}

void group_what_came(engine::Engine& engine) {
  for (int i = 0; i < kGroupingRounds; ++i) {
    if (engine.group_dead_letters(kGroupedAtOnce) == 0) return;
  }
}

Result<documents::FailureReceipt> report_failure(Call& call,
                                                 const documents::FailureReport& input) {
  const auto disposition = TRY(disposition_of(input));
  const auto queue = TRY(call.parts.engine.queue_of_handle(input.receipt_handle));
  CHECK(call.allow(queue));
  CHECK(call.parts.engine.report_failure(
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
  group_what_came(call.parts.engine);
  documents::FailureGroups out;
  queue::QueueKey listed{};
  CHECK(call.parts.engine.turn([&](engine::Turn& turn) -> Result<void> {
    listed = TRY(turn.queue(identity))->key;
    // The number is that of the whole server.
    if (call.sees_all()) out.ungrouped = static_cast<std::int64_t>(turn.state().ungrouped());
    return {};
  }));
  std::vector<GroupCodes> codes;  // Of each group.
  visit_in_turns(call.parts.engine,
                 &queue::State::groups,
                 kGroupsPerTurn,
                 [&](engine::Turn& turn, queue::FailureGroupKey, const queue::FailureGroup& group) {
                   if (group.queue != listed) return;
                   out.groups.push_back(describe(call, turn.state(), group, turn.stamp().wall));
                   codes.push_back(codes_of(turn.state(), group));
                 });
  for (std::size_t i = 0; i < codes.size(); ++i) tell_deploy(call, codes[i], out.groups[i]);
  const auto sources = sources_of(call.parts.engine, identity);
  std::ranges::stable_sort(out.groups, std::greater(), &documents::FailureGroup::count);
  out.sets_apart = TRY(distinctions(call, identity, queue::FailureGroupKey::none, sources));
  return out;
}

Result<documents::FailureGroup> show_group(Call& call) {
  const queue::QueueIdentity identity = call.queue("queue");
  group_what_came(call.parts.engine);
  documents::FailureGroup out;
  queue::FailureGroupKey key{};
  std::vector<queue::QueueIdentity> sources;
  GroupCodes codes;
  CHECK(call.parts.engine.turn([&](engine::Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const auto* group = TRY(find_group(turn.state(), queue, call.parameter("group")));
    key = group->key;
    out = describe(call, turn.state(), *group, turn.stamp().wall);
    sources = sources_of(turn.state(), *group);
    codes = codes_of(turn.state(), *group);
    return {};
  }));
  tell_deploy(call, codes, out);
  out.sets_apart = TRY(distinctions(call, identity, key, sources));
  return out;
}

Result<documents::FailureGroup> mark_group(Call& call, const documents::GroupMark& input) {
  const queue::QueueIdentity identity = call.queue("queue");
  const auto status =
      std::ranges::find(kStatuses, input.status, [](const auto& pair) { return pair.first; });
  if (status == std::end(kStatuses)) {
    return fail(ErrorCode::invalid_parameter_value,
                "`status` is `new`, `known`, `regressed`, `ignored` or `resolved`.");
  }
  if (input.note.value_or("").size() > kNoteBytesMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("`note` has at most {} bytes.", kNoteBytesMax));
  }
  return call.parts.engine.turn([&](engine::Turn& turn) -> Result<documents::FailureGroup> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const auto* group = TRY(find_group(turn.state(), queue, call.parameter("group")));
    std::vector<queue::Change> changes;
    const queue::NameIndex actor = turn.name(call.keep(call.actor()), changes);
    changes.push_back(queue::GroupMarked{
        group->key, status->second, input.note ? *input.note : call.keep(group->note), actor});
    turn.commit(changes);
    return describe(call, turn.state(), *group, turn.stamp().wall);
  });
}

}  // namespace redrive::manage
