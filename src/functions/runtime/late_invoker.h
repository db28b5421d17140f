#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "functions/runtime/invoker.h"
#include "functions/runtime/log_files.h"

namespace redrive::runtime {

// Creates the invoker on the first invocation: a server without functions pays nothing for it, and
// one on a machine that cannot run functions still serves everything else.
class LateInvoker final : public Invoker {
 public:
  // Called once it is known how functions run here, or why they cannot.
  struct Hooks {
    std::function<void(std::string)> ready;
    std::function<void(std::string)> impossible;
  };
  LateInvoker(InvokerOptions options, Hooks hooks)
      : options_(std::move(options)), hooks_(std::move(hooks)), log_files_(options_.logs) {}

  void invoke(std::shared_ptr<const FunctionSpec> function, Invocation what,
              std::function<void(Outcome)> done) override;
  void retire(const std::string& arn) override;
  void forget(const std::string& arn) override;
  std::vector<LogLine> logs(const std::string& arn, std::uint64_t after,
                            std::size_t lines_max) override;
  FunctionStats stats(const std::string& arn) override;
  ProcessUse process_use() const override;
  std::string isolation() const override;

 private:
  Invoker* made() const;
  Result<Invoker*> get();

  const InvokerOptions options_;
  const Hooks hooks_;
  LogFiles log_files_;  // Used until the invoker exists, which has its own.
  mutable Mutex mutex_;
  std::unique_ptr<Invoker> invoker_ GUARDED_BY(mutex_);
  std::string complaint_ GUARDED_BY(mutex_);  // The last error reported.
};

}  // namespace redrive::runtime
