// Redrive jobs.

#include <fmt/format.h>

#include <algorithm>

#include "base/calendar.h"
#include "dead_letters/jobs/job_control.h"
#include "dead_letters/triage/filter_text.h"
#include "dead_letters/triage/fingerprint.h"
#include "front/dead_letter_sources.h"
#include "manage/id_prefix.h"
#include "manage/in_turns.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

using engine::Turn;
using queue::MoveTask;
using queue::TaskStatus;

constexpr std::size_t kDryRunLooks = 20'000;
constexpr std::size_t kSampleKeys = 10;
constexpr std::size_t kStagesMax = 16;
constexpr std::size_t kIdsMax = 50;
constexpr std::size_t kGroupsMax = 20;
constexpr std::size_t kJobsPerTurn = 64;
// How many jobs with the same id prefix are compared.
constexpr std::size_t kJobsLookedAt = 1000;
constexpr std::size_t kTextBytesMax = 1024;
constexpr std::size_t kPatchBytesMax = 32u << 10;
constexpr std::int64_t kFailurePercentMax = 50;
constexpr std::int64_t kCanaryFailurePercentMax = 10;
constexpr std::int64_t kWatchSeconds = 300;

std::optional<std::int64_t> if_not_zero(std::uint64_t number) {
  if (number == 0) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

documents::Job describe_job(Call& call, const queue::State& state, const MoveTask& task) {
  const queue::TaskPlan& plan = task.plan;
  const auto& counts = task.counts;
  const std::string_view arn = task.source_arn;
  documents::Job job{.id = call.keep(task.id.text()),
                     .queue = call.keep(std::string(arn.substr(arn.rfind(':') + 1))),
                     .status = name_of(task.status),
                     .note = call.keep(task.failure),
                     .name = call.keep(plan.name),
                     .reason = call.keep(plan.reason),
                     .actor = call.keep(plan.actor),
                     .filter = call.keep(plan.filter),
                     .destination = call.keep(task.destination_arn),
                     .patch = call.keep(plan.patch),
                     .rate = if_not_zero(task.rate),
                     .limit = if_not_zero(plan.limit),
                     .stage = task.stage,
                     .max_failure_percent = plan.failure_percent_max,
                     .watch_seconds = plan.watch_seconds,
                     .to_move = static_cast<std::int64_t>(task.to_move),
                     .moved = static_cast<std::int64_t>(counts.moved),
                     .succeeded = static_cast<std::int64_t>(counts.succeeded),
                     .failed_again = static_cast<std::int64_t>(counts.failed_again),
                     .gone = static_cast<std::int64_t>(counts.gone),
                     .open = static_cast<std::int64_t>(counts.open()),
                     .started_at = call.keep(format_utc(task.started_wall))};
  for (const std::uint32_t stage : plan.stages) job.canary.push_back(stage);
  if (const auto* group = state.find_group(plan.group)) {
    job.group = call.keep(triage::GroupId{group->identity.id}.text());
  }
  if (task.ended_wall != Timestamp()) job.ended_at = call.keep(format_utc(task.ended_wall));
  return job;
}

Result<void> check_request(const documents::JobRequest& input) {
  const auto refuse = [](std::string message) {
    return fail(ErrorCode::invalid_parameter_value, std::move(message));
  };
  if (input.name.size() > kTextBytesMax || input.reason.size() > kTextBytesMax)
    return refuse(fmt::format("`name` and `reason` can have at most {} bytes.", kTextBytesMax));
  if (input.patch.size() > kPatchBytesMax)
    return refuse(fmt::format("`patch` can have at most {} bytes.", kPatchBytesMax));
  if (input.groups.size() > kGroupsMax)
    return refuse(fmt::format("`groups` can have at most {} entries.", kGroupsMax));
  if (input.message_ids.size() > kIdsMax)
    return refuse(fmt::format("`messageIds` can have at most {} entries; use `filter`.", kIdsMax));
  if (input.canary.size() > kStagesMax)
    return refuse(fmt::format("`canary` can have at most {} stages.", kStagesMax));
  const bool rising =
      std::ranges::adjacent_find(input.canary, std::ranges::greater_equal()) == input.canary.end();
  if (!rising || (!input.canary.empty() && (input.canary[0] < 1 || input.canary.back() > 1e9)))
    return refuse(
        "`canary` must be a list of increasing numbers of messages, such as [1, 10, 100].");
  return {};
}

// A filter compares one id; a list of ids becomes an alternative.
std::string filter_of(const documents::JobRequest& input) {
  if (input.message_ids.empty()) return std::string(input.filter);
  std::string ids;
  for (const std::string_view id : input.message_ids) {
    ids += fmt::format("{}message_id == {}", ids.empty() ? "" : " or ", triage::filter_literal(id));
  }
  return input.filter.empty() ? ids : fmt::format("({}) and ({})", input.filter, ids);
}

queue::TaskPlan plan_of(const Call& call, const documents::JobRequest& input) {
  const bool canary = !input.canary.empty();
  queue::TaskPlan plan{
      .name = std::string(input.name),
      .reason = std::string(input.reason),
      .actor = call.actor(),
      .filter = filter_of(input),
      .patch = std::string(input.patch),
      .limit = static_cast<std::uint64_t>(input.limit.value_or(0)),
      .failure_percent_max = static_cast<std::uint32_t>(input.max_failure_percent.value_or(
          canary ? kCanaryFailurePercentMax : kFailurePercentMax)),
      .include_parked = input.include_parked.value_or(false),
      .watch_seconds = static_cast<std::uint32_t>(input.watch_seconds.value_or(kWatchSeconds))};
  for (const std::int64_t stage : input.canary)
    plan.stages.push_back(static_cast<std::uint32_t>(stage));
  return plan;
}

// Several groups are an alternative in the filter; a single one is known without reading messages.
Result<void> choose_groups(const queue::State& state, const queue::Queue& source,
                           const documents::JobRequest& input, queue::TaskPlan& plan) {
  std::vector<std::string_view> wanted = input.groups;
  if (!input.group.empty()) wanted.push_back(input.group);
  if (wanted.size() == 1) {
    plan.group = TRY(find_group(state, source, wanted.front()))->key;
    return {};
  }
  std::string filter;
  for (const std::string_view one : wanted) {
    const queue::FailureGroup& group = *TRY(find_group(state, source, one));
    filter += fmt::format("{}group == {}",
                          filter.empty() ? "" : " or ",
                          triage::filter_literal(triage::GroupId{group.identity.id}.text()));
  }
  if (filter.empty()) return {};
  plan.filter = plan.filter.empty() ? filter : fmt::format("({}) and ({})", plan.filter, filter);
  return {};
}

bool may_know(const Call& call, const queue::State& state, const MoveTask& task) {
  const auto source = front::identity_from_arn(task.source_arn);
  return !source || call.allow(state, *source).has_value();
}

// Jobs with this id prefix that the caller may see; some of them if there are very many.
std::vector<const MoveTask*> jobs_like(const Call& call, const queue::State& state,
                                       std::string_view prefix) {
  std::vector<const MoveTask*> found;
  const auto first = is_id_prefix(prefix) ? first_with_prefix(prefix) : std::nullopt;
  if (!first) return found;
  auto at = state.tasks_by_id().lower_bound(*first);
  for (std::size_t i = 0; at != state.tasks_by_id().end() && i < kJobsLookedAt; ++at, ++i) {
    if (!has_id_prefix(at->first.text(), prefix)) break;
    const MoveTask& task = *state.find_task(at->second);
    if (may_know(call, state, task)) found.push_back(&task);
  }
  return found;
}

// By its id, or by a prefix that no other job that the caller may see has.
Result<const MoveTask*> find_job(const Call& call, const queue::State& state) {
  const std::string_view called = call.parameter("job");
  const auto id = Uuid::parse(called);
  if (id) {
    const MoveTask* task = state.find_task(*id);
    if (task == nullptr) return fail(ErrorCode::resource_not_found, "There is no such job.");
    const auto source = front::identity_from_arn(task->source_arn);
    if (source) RETURN_IF_ERROR(call.allow(state, *source));
    return task;
  }
  const std::vector<const MoveTask*> found = jobs_like(call, state, called);
  if (found.size() == 1) return found.front();
  if (found.empty()) return fail(ErrorCode::resource_not_found, "The job does not exist.");
  std::vector<std::string> candidates;
  for (const MoveTask* task : found) candidates.push_back(task->id.text());
  return ambiguous("jobs", called, candidates);
}

// The caller must be allowed to send to every queue that a job moves messages to. Without a
// destination these are the source queues of the dead letters.
Result<void> check_targets(const Call& call, std::string_view source_arn,
                           std::string_view destination_arn) {
  engine::Engine& engine = call.parts.engine;
  const auto named = front::identity_from_arn(destination_arn);
  if (!named) return front::authorize_sources(engine, call.caller, source_arn);
  return front::authorize(engine, call.caller, front::kSendToQueue, front::resource_of(*named));
}

// A resumed job moves messages on behalf of the caller that resumes it.
Result<void> check_resumed(const Call& call) {
  if (call.caller.key == nullptr) return {};
  using Arns = std::pair<std::string, std::string>;
  const auto found = call.parts.engine.turn([&](Turn& turn) -> Result<Arns> {
    const MoveTask& task = *TRY(find_job(call, turn.state()));
    return Arns(task.source_arn, task.destination_arn);
  });
  const auto& [source, destination] = TRY(found);
  return check_targets(call, source, destination);
}

// Changes an unfinished job, if it is in one of these states.
Result<documents::Job> change_job(Call& call, std::initializer_list<TaskStatus> from,
                                  std::optional<TaskStatus> to, std::optional<std::uint32_t> rate) {
  return call.parts.engine.turn([&](Turn& turn) -> Result<documents::Job> {
    const MoveTask& task = *TRY(find_job(call, turn.state()));
    if (std::ranges::find(from, task.status) == from.end()) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("The job is {}.", name_of(task.status)));
    }
    if (to == TaskStatus::cancelled) {
      dead_letters::cancel_job(turn, task);
    } else {
      dead_letters::change_job(turn, task, {.status = to, .rate = rate});
    }
    return describe_job(call, turn.state(), task);
  });
}

constexpr auto kStanding = {TaskStatus::paused, TaskStatus::halted};
constexpr auto kGoing = {TaskStatus::running};
constexpr auto kNotOver = {TaskStatus::running, TaskStatus::paused, TaskStatus::halted};

}  // namespace

Result<documents::JobStarted> start_job(Call& call, const documents::JobRequest& input) {
  RETURN_IF_ERROR(check_request(input));
  const queue::QueueIdentity identity = call.queue("queue");
  queue::TaskPlan plan = plan_of(call, input);
  group_what_came(call.parts.dead_letters);
  std::optional<queue::QueueIdentity> destination;
  if (!input.destination.empty()) destination = TRY(call.destination_called(input.destination));
  const auto prepared = call.parts.engine.turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& source = *TRY(turn.queue(identity));
    if (!destination && !dead_letters::has_dead_letters(turn.state(), source)) {
      return fail(
          ErrorCode::invalid_parameter_value,
          fmt::format("{} is not a dead-letter queue: no queue's redrive policy names it, and it "
                      "has no dead letters. Pass a `destination` to move its messages anyway.",
                      identity.name));
    }
    RETURN_IF_ERROR(choose_groups(turn.state(), source, input, plan));
    plan.frozen_at = number(turn.state().last_key());
    if (destination) {
      RETURN_IF_ERROR(dead_letters::check_destination(source, *TRY(turn.queue(*destination))));
    }
    return {};
  });
  RETURN_IF_ERROR(prepared);
  const std::string source_arn = identity.arn();
  const std::string destination_arn = destination ? destination->arn() : std::string();
  RETURN_IF_ERROR(check_targets(call, source_arn, destination_arn));
  const bool dry = input.dry_run.value_or(false);
  const auto chosen = TRY(
      call.parts.dead_letters.jobs.choose(identity, plan, dry ? kDryRunLooks : 0, kDryRunLooks));
  if (dry) {
    documents::Selection selection{.candidates = static_cast<std::int64_t>(chosen.candidates),
                                   .scanned = static_cast<std::int64_t>(chosen.scanned),
                                   .matched = static_cast<std::int64_t>(chosen.matched)};
    for (std::size_t i = 0; i < std::min(kSampleKeys, chosen.keys.size()); ++i)
      selection.sample.push_back(static_cast<std::int64_t>(number(chosen.keys[i])));
    return documents::JobStarted{.job = std::nullopt, .dry_run = selection};
  }
  return call.parts.engine.turn([&](Turn& turn) -> Result<documents::JobStarted> {
    const queue::Queue& source = *TRY(turn.queue(identity));
    const MoveTask* const task = TRY(dead_letters::start_job(
        turn,
        {.source = source,
         .source_arn = source_arn,
         .destination_arn = destination_arn,
         .rate = static_cast<std::uint32_t>(input.rate.value_or(0)),
         .to_move = chosen.candidates,
         .plan = plan,
         .busy = "The queue has an unfinished job; cancel it or wait for its end."}));
    return documents::JobStarted{.job = describe_job(call, turn.state(), *task),
                                 .dry_run = std::nullopt};
  });
}

Result<documents::Jobs> list_jobs(Call& call) {
  documents::Jobs out;
  visit_in_turns(call.parts.engine,
                 &queue::State::tasks,
                 kJobsPerTurn,
                 [&](Turn& turn, queue::TaskKey, const MoveTask& task) {
                   const queue::Queue* source = turn.state().find(task.source);
                   const bool theirs = source != nullptr &&
                                       source->identity.account == call.caller.account &&
                                       source->identity.region == call.caller.region;
                   if (theirs && call.allow(turn.state(), source->identity))
                     out.jobs.push_back(describe_job(call, turn.state(), task));
                 });
  std::ranges::reverse(out.jobs);  // The latest first.
  return out;
}

Result<documents::Job> show_job(Call& call) {
  return call.parts.engine.turn([&](Turn& turn) -> Result<documents::Job> {
    return describe_job(call, turn.state(), *TRY(find_job(call, turn.state())));
  });
}

Result<documents::Job> pause_job(Call& call) {
  return change_job(call, kGoing, TaskStatus::paused, std::nullopt);
}

Result<documents::Job> resume_job(Call& call) {
  RETURN_IF_ERROR(check_resumed(call));
  call.parts.engine.catch_up();  // Messages that are gone are counted before the job continues.
  return change_job(call, kStanding, TaskStatus::running, std::nullopt);
}

Result<documents::Job> cancel_job(Call& call) {
  return change_job(call, kNotOver, TaskStatus::cancelled, std::nullopt);
}

Result<documents::Job> change_job_rate(Call& call, const documents::RateChange& input) {
  return change_job(call, kNotOver, std::nullopt, static_cast<std::uint32_t>(input.rate));
}

}  // namespace redrive::manage
