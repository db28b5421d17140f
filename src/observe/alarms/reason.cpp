// Explains why there are dead letters.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/store/message_codec.h"
#include "dead_letters/triage/fingerprint.h"
#include "dead_letters/triage/rank.h"
#include "dead_letters/triage/secrets.h"
#include "observe/alarms/dead_letters.h"

namespace redrive::alarms {
namespace {

constexpr std::size_t kGroupsTold = 5;
constexpr std::size_t kDistinctionsTold = 3;
constexpr std::size_t kSampleBytes = 512;
constexpr std::size_t kTitleBytes = 200;
// Bounds for grouping recent dead letters.
constexpr std::size_t kGroupedAtOnce = 256;
constexpr int kGroupingRounds = 16;

std::string_view name_of(queue::GroupStatus status) {
  switch (status) {
    case queue::GroupStatus::fresh:
      return "new";
    case queue::GroupStatus::known:
      return "known";
    case queue::GroupStatus::regressed:
      return "regressed";
    case queue::GroupStatus::ignored:
      return "ignored";
    case queue::GroupStatus::resolved:
      return "resolved";
  }
  return "new";
}

struct Groups {
  std::vector<FailureLine> lines;
  queue::FailureGroupKey largest = queue::FailureGroupKey::none;
  std::optional<queue::MessageKey> sample;
  std::vector<queue::QueueIdentity> sources;
  std::vector<std::string> escalating;  // A sentence each.
};

std::string escalation_of(const queue::FailureGroup& group, Timestamp wall) {
  const auto minutes = group.arrivals.minutely(wall);
  const auto lately = std::accumulate(minutes.end() - 5, minutes.end(), std::uint64_t{0});
  return fmt::format("A failure group is escalating, {} in the last five minutes: {}.",
                     lately,
                     triage::mask_secrets(group.identity.title, {.bytes_max = kTitleBytes}));
}

// Call in a turn.
Groups look_at_groups(const queue::State& state, const queue::Queue& queue, std::uint64_t told,
                      Timestamp wall) {
  std::vector<const queue::FailureGroup*> found;
  for (const queue::FailureGroup* group : state.groups_in(queue.key)) {
    if (group->count > 0) found.push_back(group);
  }
  std::ranges::stable_sort(found, std::greater(), &queue::FailureGroup::count);
  std::ranges::stable_partition(
      found, [&](const queue::FailureGroup* group) { return group->arrivals.is_escalating(wall); });
  Groups groups;
  if (!found.empty()) {
    groups.largest = found.front()->key;
    for (const queue::MessageKey key : found.front()->samples) {
      if (state.find_message(queue, key) != queue::kNoSlot) groups.sample = key;
    }
    for (const queue::NameIndex name : found.front()->arrivals.sources) {
      if (const queue::Queue* source = state.find_by_arn(state.name(name))) {
        groups.sources.push_back(source->identity);
      }
    }
  }
  for (const queue::FailureGroup* group : found) {
    if (groups.lines.size() == kGroupsTold) break;
    const bool ignored = group->status_at(wall) == queue::GroupStatus::ignored;
    if (!ignored && group->arrivals.is_escalating(wall)) {
      groups.escalating.push_back(escalation_of(*group, wall));
    }
    groups.lines.push_back(
        {.id = triage::GroupId{group->identity.id}.text(),
         .title = triage::mask_secrets(group->identity.title, {.bytes_max = kTitleBytes}),
         .status = std::string(name_of(group->status_at(wall))),
         .count = group->count,
         .fresh = static_cast<std::uint64_t>(number(group->key)) > told});
  }
  return groups;
}

std::string read_sample(engine::Engine& engine, dead_letters::DeadLetters& dead_letters,
                        const queue::QueueIdentity& queue, queue::MessageKey key,
                        const triage::MaskRules* mask_rules) {
  const auto page = dead_letters.peek.one(queue, key);
  if (!page || page->messages.empty()) return {};
  const queue::BodyRef& body = page->messages.front().body;
  std::string stored;
  const auto message = engine.read_message(key, body, stored);
  if (!message) return {};
  return triage::mask_secrets(message->contents.body,
                              {.bytes_max = kSampleBytes, .rules = mask_rules});
}

std::vector<std::string> commands_for(const std::string& queue, const Groups& groups) {
  std::vector<std::string> commands = {fmt::format("redrive dlq groups {}", queue)};
  if (!groups.lines.empty()) {
    commands.push_back(
        fmt::format("redrive dlq redrive {} --group {} --canary", queue, groups.lines.front().id));
  }
  commands.push_back(fmt::format("redrive dlq redrive {} --dry-run", queue));
  commands.push_back(fmt::format("redrive alarm off {}", queue));
  return commands;
}

}  // namespace

void group_what_came(dead_letters::DeadLetters& dead_letters) {
  for (int i = 0; i < kGroupingRounds && dead_letters.groups.group_some(kGroupedAtOnce) > 0; ++i) {
  }
}

DeadLetterReason find_reason(engine::Engine& engine, dead_letters::DeadLetters& dead_letters,
                             const DeadLetterReading& reading, std::vector<std::string> findings,
                             std::uint64_t told, const triage::MaskRules* mask_rules) {
  const auto groups = engine.turn([&](engine::Turn& turn) -> Result<Groups> {
    const queue::Queue* const queue = turn.state().find(reading.identity);
    if (queue == nullptr) return Groups();
    return look_at_groups(turn.state(), *queue, told, turn.stamp().wall);
  });
  findings.insert(findings.end(), groups->escalating.begin(), groups->escalating.end());
  DeadLetterReason reason{.queue = reading.identity.name,
                          .messages = reading.messages,
                          .findings = std::move(findings),
                          .groups = groups->lines,
                          .apart = {},
                          .sample = {},
                          .commands = commands_for(reading.identity.name, *groups)};
  if (const auto dead = dead_letters.groups.features(reading.identity, groups->largest)) {
    triage::FeatureCounts processed;
    for (const auto& source : groups->sources) processed.merge(dead_letters.processed.of(source));
    for (const auto& found : triage::rank(*dead, processed, kDistinctionsTold)) {
      reason.apart.push_back(
          triage::mask_secrets(found.sentence, {.bytes_max = found.sentence.npos}));
    }
  }
  if (groups->sample)
    reason.sample =
        read_sample(engine, dead_letters, reading.identity, *groups->sample, mask_rules);
  return reason;
}

}  // namespace redrive::alarms
