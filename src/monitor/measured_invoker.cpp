#include "monitor/measured_invoker.h"

#include <map>

#include "base/text.h"

namespace redrive::monitor {
namespace {

using runtime::Outcome;

// arn:aws:lambda:region:account:function:name, and behind it a version, unless it is the latest.
constexpr std::size_t kNamePart = 6;

std::string name_in(const std::string& arn) {
  const auto parts = split(arn, ':');
  return parts.size() > kNamePart ? std::string(parts[kNamePart]) : arn;
}

bool is_version(const std::string& arn) {
  return split(arn, ':').size() > kNamePart + 1;
}

void record(metrics::FunctionMetrics& metrics, const Outcome& outcome) {
  metrics.concurrency.add(-1);
  if (outcome.kind == Outcome::Kind::throttled) return metrics.throttles.add();
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(outcome.duration);
  metrics.invocations.add();
  metrics.duration.record(static_cast<std::uint64_t>(millis.count()));
  metrics.duration_max.record(static_cast<std::uint64_t>(millis.count()));
  if (outcome.kind == Outcome::Kind::done) return;
  metrics.errors.add();
  const bool nameless = outcome.error_type.empty();
  metrics.errors_by_type.add(nameless ? "unknown" : std::string_view(outcome.error_type));
}

}  // namespace

void MeasuredInvoker::invoke(std::shared_ptr<const runtime::FunctionSpec> function,
                             runtime::Invocation what, std::function<void(Outcome)> done) {
  const auto metrics = registry_.functions.of(function->name);
  // What waits in a lane does not run.
  what.admitted = [metrics] { metrics->concurrency.add(); };
  {
    const std::lock_guard lock(mutex_);
    invoked_.insert(function->arn);
  }
  inner_->invoke(
      std::move(function), std::move(what), [metrics, done = std::move(done)](Outcome outcome) {
        record(*metrics, outcome);
        done(std::move(outcome));
      });
}

void MeasuredInvoker::count_cold_starts() {
  std::set<std::string> invoked;
  {
    const std::lock_guard lock(mutex_);
    invoked = invoked_;
  }
  std::map<std::string, std::uint64_t> sums;  // Accounts and regions may have the same names.
  for (const std::string& arn : invoked) sums[name_in(arn)] += inner_->stats(arn).cold_starts;
  for (const auto& [name, sum] : sums) registry_.functions.of(name)->cold_starts.reach(sum);
}

void MeasuredInvoker::forget(const std::string& arn) {
  {
    const std::lock_guard lock(mutex_);
    invoked_.erase(arn);
  }
  if (!is_version(arn)) registry_.functions.forget(name_in(arn));
  inner_->forget(arn);
}

}  // namespace redrive::monitor
