#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "functions/runtime/worker.h"

namespace redrive::runtime {

// A function with runtime "command": one process per event, which it reads from stdin; its stdout
// is the result, its stderr the log. Lives on the poller's thread.
class CommandRun {
 public:
  // `ended` is called once, when the process has exited; free the run with a posted task then.
  CommandRun(const ProcessServices& services, Job job, std::shared_ptr<FunctionRecord> record,
             std::function<void(CommandRun&, Outcome)> ended);

  Result<void> start();
  void check(SteadyTime now);
  SteadyTime due() const { return due_; }
  Job& job() { return job_; }

 private:
  enum class KillReason : std::uint8_t { none, timeout, memory, output };

  void take_log(std::string_view text);
  void take_output(std::string_view text);
  void kill_for(KillReason reason);
  void on_exit(int wait_status);
  Outcome outcome_of(int wait_status);
  Outcome failure(int wait_status);
  void add_line(std::string_view text);

  ProcessServices services_;
  Job job_;
  const std::shared_ptr<FunctionRecord> record_;
  const std::function<void(CommandRun&, Outcome)> ended_;
  KillReason kill_reason_ = KillReason::none;
  SteadyTime started_{};
  SteadyTime due_ = SteadyTime::max();
  SteadyTime measured_{};
  std::string output_;
  std::string last_line_;  // Last non-empty line of the log; may be an error document.
  InvocationLog log_;
  LineSplitter lines_;
  std::unique_ptr<Process> process_;
};

}  // namespace redrive::runtime
