#include "observe/monitor/measured_invoker.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace redrive::monitor {
namespace {

using runtime::Outcome;

// arn:aws:lambda:region:account:function:name, followed by a version unless it is $LATEST.
constexpr std::size_t kNamePart = 6;

// All versions of a function share their metrics.
std::string without_version(const std::string& arn) {
  const auto parts = split(arn, ':');
  if (parts.size() <= kNamePart + 1) return arn;
  return arn.substr(
      0, static_cast<std::size_t>(parts[kNamePart].end() - std::string_view(arn).begin()));
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
  const auto metrics = registry_.functions.of(without_version(function->arn));
  // An invocation waiting in a lane is not running.
  what.admitted = [metrics] { metrics->concurrency.add(); };
  {
    const MutexLock lock(mutex_);
    cold_starts_.try_emplace(function->arn, 0);
  }
  inner_->invoke(
      std::move(function), std::move(what), [metrics, done = std::move(done)](Outcome outcome) {
        record(*metrics, outcome);
        done(std::move(outcome));
      });
}

void MeasuredInvoker::count_cold_starts() {
  std::map<std::string, std::uint64_t> counted;
  {
    const MutexLock lock(mutex_);
    counted = cold_starts_;
  }
  for (auto& [arn, before] : counted) {
    const std::uint64_t now = inner_->stats(arn).cold_starts;
    if (now == before) continue;
    registry_.functions.of(without_version(arn))->cold_starts.add(now - std::min(now, before));
    const MutexLock lock(mutex_);
    if (const auto known = cold_starts_.find(arn); known != cold_starts_.end()) known->second = now;
  }
}

void MeasuredInvoker::forget(const std::string& arn) {
  {
    const MutexLock lock(mutex_);
    cold_starts_.erase(arn);
  }
  if (!is_version(arn)) registry_.functions.forget(arn);
  inner_->forget(arn);
}

}  // namespace redrive::monitor
