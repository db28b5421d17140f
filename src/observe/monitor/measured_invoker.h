#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "functions/runtime/invoker.h"
#include "observe/metrics/function_metrics.h"

namespace redrive::monitor {

// Wraps an invoker and records metrics of every invocation.
class MeasuredInvoker final : public runtime::Invoker {
 public:
  MeasuredInvoker(std::unique_ptr<runtime::Invoker> inner, metrics::FunctionRegistry& registry)
      : registry_(registry), inner_(std::move(inner)) {}

  void invoke(std::shared_ptr<const runtime::FunctionSpec> function, runtime::Invocation what,
              std::function<void(runtime::Outcome)> done) override;
  void retire(const std::string& arn) override { inner_->retire(arn); }
  void forget(const std::string& arn) override;
  std::vector<runtime::LogLine> logs(const std::string& arn, std::uint64_t after,
                                     std::size_t lines_max) override {
    return inner_->logs(arn, after, lines_max);
  }
  runtime::FunctionStats stats(const std::string& arn) override { return inner_->stats(arn); }
  runtime::ProcessUse process_use() const override { return inner_->process_use(); }
  std::string isolation() const override { return inner_->isolation(); }
  // Adds processes started since the last call to the registry. By one thread at a time.
  void count_cold_starts();

 private:
  metrics::FunctionRegistry& registry_;
  Mutex mutex_;
  // Counted so far, by the invoked ARN.
  std::map<std::string, std::uint64_t> cold_starts_ GUARDED_BY(mutex_);
  std::unique_ptr<runtime::Invoker> inner_;
};

}  // namespace redrive::monitor
