#include "functions/runtime/late_invoker.h"

namespace redrive::runtime {

Invoker* LateInvoker::made() const {
  MutexLock lock(mutex_);
  return invoker_.get();
}

// Retried on every call: the machine may have been fixed.
Result<Invoker*> LateInvoker::get() {
  MutexLock lock(mutex_);
  if (invoker_) return invoker_.get();
  auto made = make_invoker(options_);
  if (!made) {
    if (complaint_ != made.error().message) hooks_.impossible(made.error().message);
    complaint_ = made.error().message;
    return std::unexpected(made.error());
  }
  invoker_ = *std::move(made);
  hooks_.ready(invoker_->isolation());
  return invoker_.get();
}

void LateInvoker::invoke(std::shared_ptr<const FunctionSpec> function, Invocation what,
                         std::function<void(Outcome)> done) {
  const auto invoker = get();
  if (!invoker) {
    Outcome outcome{.kind = Outcome::Kind::service_error};
    outcome.error_message = invoker.error().message;
    if (what.admitted) what.admitted();
    return done(std::move(outcome));
  }
  (*invoker)->invoke(std::move(function), std::move(what), std::move(done));
}

void LateInvoker::retire(const std::string& arn) {
  if (Invoker* const invoker = made()) invoker->retire(arn);
}

void LateInvoker::forget(const std::string& arn) {
  if (Invoker* const invoker = made()) return invoker->forget(arn);
  log_files_.remove(arn);
}

std::vector<LogLine> LateInvoker::logs(const std::string& arn, std::uint64_t after,
                                       std::size_t lines_max) {
  Invoker* const invoker = made();
  return invoker == nullptr ? log_files_.lines_after(arn, after, lines_max)
                            : invoker->logs(arn, after, lines_max);
}

FunctionStats LateInvoker::stats(const std::string& arn) {
  Invoker* const invoker = made();
  return invoker == nullptr ? FunctionStats() : invoker->stats(arn);
}

ProcessUse LateInvoker::process_use() const {
  const Invoker* const invoker = made();
  return invoker == nullptr ? ProcessUse{.processes_max = options_.processes_max}
                            : invoker->process_use();
}

std::string LateInvoker::isolation() const {
  const Invoker* const invoker = made();
  return invoker == nullptr ? "" : invoker->isolation();
}

}  // namespace redrive::runtime
