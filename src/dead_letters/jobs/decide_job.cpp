#include "dead_letters/jobs/decide_job.h"

#include <fmt/format.h>

#include <algorithm>

namespace redrive::dead_letters {
namespace {

using queue::MoveTask;

constexpr std::uint64_t kMovesPerTurn = 256;
// The circuit breaker judges only after so many messages have succeeded or failed.
constexpr std::uint64_t kSettledMin = 20;
constexpr std::string_view kNoQueue = "AWS.SimpleQueueService.NonExistentQueue";

// Of `of` messages that were moved since the job was started or resumed.
bool too_many_failed(const MoveTask& task, std::uint64_t of) {
  if (task.plan.failure_percent_max >= 100) return false;
  const std::uint64_t failed = task.counts.failed_again - task.forgiven.failed_again;
  return failed * 100 > task.plan.failure_percent_max * of;
}

}  // namespace

JobTarget decide_target(const queue::State& state, const MoveTask& task, queue::Slot slot) {
  if (!task.destination_arn.empty()) {
    const queue::Queue* const named = state.find_by_arn(task.destination_arn);
    // A hidden queue is no destination, whatever an old journal says.
    const bool usable = named != nullptr && !named->identity.is_hidden();
    return {usable ? named : nullptr, kNoQueue};
  }
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr || history->dead_letter_source == queue::NameIndex::none) {
    return {nullptr, "CouldNotDetermineMessageSource"};
  }
  return {state.find_by_arn(state.name(history->dead_letter_source)), kNoQueue};
}

WatchVerdict decide_watch(const MoveTask& task, Timestamp watched_since, Timestamp now) {
  using Kind = WatchVerdict::Kind;
  const auto& counts = task.counts;
  const std::uint64_t settled = counts.settled() - task.forgiven.settled();
  // What was open when the job was resumed is judged with what was moved since.
  const std::uint64_t at_stake = counts.moved - task.forgiven.settled() - task.forgiven.gone;
  const bool in_stage = task.stage < task.plan.stages.size();
  if (in_stage && counts.moved < task.plan.stages[task.stage]) return {.kind = Kind::move};
  // The end of a stage waits for all; outside of stages a share of enough of them decides.
  const bool enough = in_stage ? counts.open() == 0 : settled >= kSettledMin;
  if ((enough && too_many_failed(task, settled)) || (in_stage && too_many_failed(task, at_stake))) {
    return {.kind = Kind::halt,
            .note = fmt::format("{} of {} redriven messages failed again",
                                counts.failed_again - task.forgiven.failed_again,
                                settled)};
  }
  if (!in_stage) return {.kind = Kind::move};
  if (counts.open() == 0) return {.kind = Kind::next_stage};
  if (now < watched_since + std::chrono::seconds(task.plan.watch_seconds)) {
    return {.kind = Kind::wait};
  }
  return {
      .kind = Kind::halt,
      .note = fmt::format("after {} s the outcome of {} of {} redriven messages is still unknown",
                          task.plan.watch_seconds,
                          counts.open(),
                          counts.moved)};
}

Timestamp JobTokens::next_at(std::uint32_t rate) const {
  return since + Duration(static_cast<std::int64_t>((moved * 1000 + rate - 1) / rate));
}

std::uint64_t moves_max(const MoveTask& task) {
  return task.plan.limit > 0 ? std::min(task.plan.limit, task.to_move) : task.to_move;
}

std::uint64_t decide_quota(const MoveTask& task, JobTokens& tokens, Timestamp now) {
  std::uint64_t quota = kMovesPerTurn;
  if (task.rate > 0) {
    // One message at once, then `rate` a second. After a pause (a busy or stopped server) at most
    // a second is made up for.
    const auto elapsed = static_cast<std::uint64_t>((now - tokens.since).count());
    std::uint64_t earned = 1 + elapsed * task.rate / 1000;
    if (earned > tokens.moved + task.rate) {
      tokens = {.since = now, .moved = 0};
      earned = 1;
    }
    quota = std::min(quota, earned - std::min(earned, tokens.moved));
  }
  std::uint64_t total = moves_max(task);
  if (task.stage < task.plan.stages.size()) {
    total = std::min<std::uint64_t>(total, task.plan.stages[task.stage]);
  }
  return std::min(quota, total - std::min(total, task.counts.moved));
}

}  // namespace redrive::dead_letters
