// Compares jobs, groups and errors with the model.

#include <map>
#include <numeric>
#include <span>

#include "sim/invariants.h"
#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::ErrorKey;
using queue::FailureGroupKey;
using queue::MessageKey;
using queue::Slot;
using queue::TaskKey;

// Recounted from the histories of the messages in memory. Some of them have ended but have not been
// removed yet: their jobs and groups still count them.
struct Recount {
  std::map<TaskKey, std::uint64_t> open;
  std::map<TaskKey, std::uint64_t> open_but_over;
  std::map<FailureGroupKey, std::uint64_t> members;
  std::map<FailureGroupKey, std::uint64_t> members_but_over;
  std::map<ErrorKey, std::uint64_t> errors;
};

Recount recount(const View& view) {
  Recount out;
  const auto& table = view.state.messages();
  for (Slot slot = 0; slot < table.end(); ++slot) {
    const queue::History* history =
        table[slot].key == MessageKey::none ? nullptr : table.history_if(slot);
    if (history == nullptr) continue;
    for (const queue::Attempt& attempt : history->attempts) ++out.errors[attempt.error];
    if (view.state.is_buried(slot)) continue;
    const queue::Queue& queue = *view.state.find(view.state.queue_of(slot));
    const bool over = table[slot].sent_at + queue.settings.retention <= view.now;
    ++out.open[history->job];
    out.open_but_over[history->job] += over;
    ++out.members[history->group];
    out.members_but_over[history->group] += over;
  }
  for (const auto& [place, archived] : view.state.archived().entries()) {
    for (const queue::Attempt& attempt : archived.history.attempts) ++out.errors[attempt.error];
  }
  return out;
}

std::uint64_t counts_in(std::span<const std::uint32_t> ring) {
  return std::accumulate(ring.begin(), ring.end(), std::uint64_t{0});
}

// The sum over the last `size` days or minutes.
std::uint64_t counts_since(const std::map<std::int64_t, std::uint64_t>& counts, std::int64_t now,
                           std::size_t size) {
  std::uint64_t sum = 0;
  for (const auto& [at, count] : counts) {
    if (at <= now && at > now - static_cast<std::int64_t>(size)) sum += count;
  }
  return sum;
}

constexpr std::string_view kTasks = "move tasks are exact";

void counts_are_exact(const queue::MoveTask& seen, const ModelTask& expected, Recount& found) {
  const auto id = number(seen.key);
  queue::TaskCounts counts = seen.counts;
  require(counts.settled() + counts.gone + found.open[seen.key] == counts.moved,
          kTasks,
          "task {} moved {}: {} succeeded, {} failed again, {} are gone, {} are open",
          id,
          counts.moved,
          counts.succeeded,
          counts.failed_again,
          counts.gone,
          found.open[seen.key]);
  counts.gone += found.open_but_over[seen.key];
  require(counts == expected.counts && seen.to_move == expected.to_move,
          kTasks,
          "task {}: {}/{}/{}/{} of {}, not {}/{}/{}/{} of {}",
          id,
          counts.moved,
          counts.succeeded,
          counts.failed_again,
          counts.gone,
          seen.to_move,
          expected.counts.moved,
          expected.counts.succeeded,
          expected.counts.failed_again,
          expected.counts.gone,
          expected.to_move);
  require(seen.forgiven == expected.forgiven, kTasks, "task {}: what is forgiven", id);
}

}  // namespace

void move_tasks_are_exact(const View& view) {
  require(view.state.tasks().size() == view.model.tasks().size(),
          kTasks,
          "{} tasks, not {}",
          view.state.tasks().size(),
          view.model.tasks().size());
  Recount found = recount(view);
  for (const auto& [key, expected] : view.model.tasks()) {
    const queue::MoveTask* seen = view.state.find_task(key);
    require(seen != nullptr, kTasks, "task {} is forgotten", number(key));
    counts_are_exact(*seen, expected, found);
    require(seen->status == expected.status && seen->failure == expected.failure &&
                seen->stage == expected.stage,
            kTasks,
            "task {}: its status",
            number(key));
    require(seen->id == expected.id && seen->source == expected.source &&
                seen->source_arn == expected.source_arn &&
                seen->destination_arn == expected.destination_arn && seen->rate == expected.rate &&
                seen->plan == expected.plan,
            kTasks,
            "task {}: what it was asked to do",
            number(key));
    require(seen->started_wall == expected.started_wall && seen->ended_wall == expected.ended_wall,
            kTasks,
            "task {}: its dates",
            number(key));
  }
}

void codes_are_exact(const View& view, const queue::CodeUses& seen, const ModelCodeUses& expected,
                     std::string_view whose) {
  constexpr std::string_view kCodes = "which code did what is counted exactly";
  ModelCodeUses found;
  for (const queue::CodeUse& use : seen.all()) {
    found[view.state.code_key(use.code)] = {
        use.processed, use.failed, use.first_wall, use.last_wall};
  }
  require(
      found == expected, kCodes, "{}: {} versions, not {}", whose, found.size(), expected.size());
}

void groups_are_exact(const View& view) {
  constexpr std::string_view kGroups = "failure groups are exact";
  require(view.state.groups().size() == view.model.groups().size(),
          kGroups,
          "{} groups, not {}",
          view.state.groups().size(),
          view.model.groups().size());
  Recount found = recount(view);
  std::map<FailureGroupKey, std::uint64_t> members;
  for (const auto& [key, message] : view.model.messages()) ++members[message.history.group];
  for (const auto& [key, expected] : view.model.groups()) {
    const queue::FailureGroup* seen = view.state.find_group(expected.queue, expected.identity.id);
    const auto id = number(key);
    require(seen != nullptr && seen->key == key, kGroups, "group {} is forgotten", id);
    require(seen->count == found.members[key] &&
                seen->count - found.members_but_over[key] == members[key],
            kGroups,
            "group {} has {} members, not {}",
            id,
            seen->count,
            members[key]);
    require(seen->status == expected.status && seen->note == expected.note &&
                seen->marked_by == expected.marked_by && seen->identity == expected.identity &&
                seen->owner == expected.owner && seen->ignored_until == expected.ignored_until &&
                seen->ignored_to_total == expected.ignored_to_total,
            kGroups,
            "group {}: what is said of it",
            id);
    const queue::GroupArrivals& arrivals = seen->arrivals;
    require(
        arrivals.total == expected.total && arrivals.failed_again == expected.failed_again &&
            arrivals.first_wall == expected.first_wall &&
            arrivals.last_wall == expected.last_wall && arrivals.sources == expected.sources &&
            arrivals.consumers == expected.consumers,
        kGroups,
        "group {}: its arrivals: {} (not {}), {} again (not {}), from {} (not {}) to {} (not {}), "
        "{} and {} sources, {} and {} consumers",
        id,
        arrivals.total,
        expected.total,
        arrivals.failed_again,
        expected.failed_again,
        arrivals.first_wall.ms(),
        expected.first_wall.ms(),
        arrivals.last_wall.ms(),
        expected.last_wall.ms(),
        arrivals.sources.size(),
        expected.sources.size(),
        arrivals.consumers.size(),
        expected.consumers.size());
    codes_are_exact(view, seen->codes, expected.codes, "a group");
    const Timestamp last = arrivals.last_wall;
    require(counts_in(arrivals.daily(last)) ==
                    counts_since(expected.days, last.ms() / 86'400'000, queue::kGroupDays) &&
                counts_in(arrivals.minutely(last)) ==
                    counts_since(expected.minutes, last.ms() / 60'000, queue::kGroupMinutes),
            kGroups,
            "group {}: its trend",
            id);
  }
  require(view.state.group_rules() == view.model.group_rules(), kGroups, "the rules of groups");
}

void archived_are_exact(const View& view) {
  constexpr std::string_view kArchived = "what is archived is remembered";
  require(view.state.archived().entries().size() == view.model.archived().size(),
          kArchived,
          "{}, not {}",
          view.state.archived().entries().size(),
          view.model.archived().size());
  for (const auto& [place, expected] : view.model.archived()) {
    const queue::ArchivedLineage* seen = view.state.archived().find(expected.known.message_id);
    require(seen != nullptr, kArchived, "message {} is forgotten", number(expected.key));
    require(seen->history == expected.known.history,
            kArchived,
            "message {}: its history",
            number(expected.key));
    require(*seen == expected.known, kArchived, "message {}", number(expected.key));
    const queue::Slot slot = view.state.messages().find(expected.key);
    require(slot == queue::kNoSlot || view.state.is_buried(slot),
            kArchived,
            "message {} is in a queue, too",
            number(expected.key));
  }
}

void errors_are_exact(const View& view) {
  constexpr std::string_view kErrors = "errors are kept in the words of their consumers";
  Recount found = recount(view);
  found.errors.erase(ErrorKey::none);
  for (const auto& [key, entry] : view.state.errors().entries()) {
    require(entry.holds == found.errors[key] && entry.holds > 0,
            kErrors,
            "error {}: {} messages refer to it, not {}",
            number(key),
            found.errors[key],
            entry.holds);
    require(view.model.errors().at(key) == entry.text, kErrors, "error {}: its text", number(key));
  }
  require(found.errors.size() == view.state.errors().size(), kErrors, "one is forgotten");
}

}  // namespace redrive::sim
