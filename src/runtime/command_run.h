#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/worker.h"

namespace redrive::runtime {

// A function that is a command: one process for each event, which it reads from its input; what it
// writes to its output is the result, what it writes to its errors the log. Lives on the poller's
// thread.
class CommandRun {
 public:
  // `ended` is called once, when the process is gone; the run is then freed by an errand.
  CommandRun(const Grounds& grounds, Job job, std::shared_ptr<FunctionRecord> record,
             std::function<void(CommandRun&, Outcome)> ended);

  Result<void> start();
  void check(SteadyTime now);
  SteadyTime due() const { return due_; }
  Job& job() { return job_; }

 private:
  enum class Sentence : std::uint8_t { none, timeout, memory, output };

  void take_log(std::string_view text);
  void take_output(std::string_view text);
  void kill_for(Sentence sentence);
  void on_exit(int wait_status);
  Outcome outcome_of(int wait_status);
  Outcome failure(int wait_status);
  void add_line(std::string_view text);

  Grounds grounds_;
  Job job_;
  const std::shared_ptr<FunctionRecord> record_;
  const std::function<void(CommandRun&, Outcome)> ended_;
  Sentence sentence_ = Sentence::none;
  SteadyTime started_{};
  SteadyTime due_ = SteadyTime::max();
  SteadyTime measured_{};
  std::string output_;
  std::string last_line_;  // Of the log that is not empty: maybe an error document.
  InvocationLog log_;
  LineSplitter lines_;
  std::unique_ptr<Process> process_;
};

}  // namespace redrive::runtime
