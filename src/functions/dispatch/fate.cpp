#include "functions/dispatch/fate.h"

#include "functions/events/retry_policy.h"

namespace redrive::dispatch {
namespace {

using Verdict = events::RetryDecision::Verdict;

void count_retry(RunCounts& counts, const events::RetryDecision& decision, Timestamp now) {
  counts.retries.resize(std::max(counts.retries.size(), decision.retrier + 1));
  ++counts.retries[decision.retrier];
  counts.due_seconds = static_cast<std::uint32_t>((now + decision.delay).seconds());
}

}  // namespace

Fate decide_fate(const Plan& plan, const FailedRun& run) {
  Fate fate{.delay = run.visibility, .counts = run.counts};
  ++fate.counts.runs;
  fate.counts.due_seconds = 0;
  if (plan.mapping.retries_max && fate.counts.runs > *plan.mapping.retries_max) {
    if (plan.on_failure) {
      fate.kind = Fate::Kind::discard;
    } else if (run.has_dead_letter_queue) {
      fate.kind = Fate::Kind::dead_letter;
    }
    return fate;
  }
  if (plan.mapping.retriers.empty()) return fate;
  const auto decision = events::decide_retry(
      plan.mapping.retriers, run.error_names, fate.counts.retries, run.random01);
  if (decision.verdict == Verdict::retry) {
    fate.delay = decision.delay;
    count_retry(fate.counts, decision, run.now);
  } else if (decision.verdict == Verdict::no_match) {
    return fate;
  } else if (run.has_dead_letter_queue) {
    fate.kind = Fate::Kind::dead_letter;
  } else if (plan.on_failure) {
    fate.kind = Fate::Kind::discard;
  }
  return fate;
}

}  // namespace redrive::dispatch
