#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "functions/runtime/invoker.h"

namespace redrive::lambda {

// Runs nothing: notes what was asked and answers what a test lined up, or keeps the callback.
class FakeInvoker final : public runtime::Invoker {
 public:
  using Spec = std::shared_ptr<const runtime::FunctionSpec>;

  void invoke(Spec function, runtime::Invocation what,
              std::function<void(runtime::Outcome)> done) override {
    runtime::Outcome outcome;
    {
      const std::lock_guard lock(mutex_);
      specs.push_back(function);
      invocations.push_back(what);
      if (hold) {
        held.push_back(std::move(done));
        return;
      }
      outcome = next;
    }
    done(outcome);
  }
  void retire(const std::string& arn) override { retired.push_back(arn); }
  void forget(const std::string& arn) override { forgotten.push_back(arn); }
  std::vector<runtime::LogLine> logs(const std::string&, std::uint64_t after,
                                     std::size_t) override {
    std::vector<runtime::LogLine> found;
    for (const auto& line : lines) {
      if (line.sequence > after) found.push_back(line);
    }
    return found;
  }
  runtime::FunctionStats stats(const std::string&) override { return {}; }
  std::string isolation() const override { return "not at all"; }

  bool holds_one() {
    const std::lock_guard lock(mutex_);
    return !held.empty();
  }

  runtime::Outcome next;
  bool hold = false;
  std::vector<Spec> specs;
  std::vector<runtime::Invocation> invocations;
  std::vector<std::function<void(runtime::Outcome)>> held;
  std::vector<std::string> retired;
  std::vector<std::string> forgotten;
  std::vector<runtime::LogLine> lines;

 private:
  std::mutex mutex_;
};

}  // namespace redrive::lambda
