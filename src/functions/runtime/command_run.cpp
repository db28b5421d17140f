#include "functions/runtime/command_run.h"

#include <fmt/format.h>
#include <sys/wait.h>

namespace redrive::runtime {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kKilledTimeMax{2'000};
constexpr std::chrono::milliseconds kLookInterval{100};
constexpr std::size_t kMessageBytesMax = 2'000;

// Passes request data in the environment, so that a command needs no arguments for it.
FunctionSpec with_request(const FunctionSpec& function, const Invocation& what) {
  FunctionSpec result = function;
  const auto deadline = std::chrono::system_clock::now().time_since_epoch() + function.timeout;
  result.environment["REDRIVE_REQUEST_ID"] = what.request_id;
  result.environment["REDRIVE_DEADLINE_MS"] =
      fmt::to_string(duration_cast<std::chrono::milliseconds>(deadline).count());
  if (!what.trace.empty()) result.environment["_X_AMZN_TRACE_ID"] = what.trace;
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

CommandRun::CommandRun(const ProcessServices& services, Job job,
                       std::shared_ptr<FunctionRecord> record,
                       std::function<void(CommandRun&, Outcome)> ended)
    : services_(services),
      job_(std::move(job)),
      record_(std::move(record)),
      ended_(std::move(ended)) {}

Result<void> CommandRun::start() {
  const FunctionSpec function = with_request(*job_.function, job_.what);
  started_ = steady_clock::now();
  due_ = started_ + function.timeout;
  add_line(start_line(job_.what.request_id, function.version));
  process_ = TRY(Process::start(services_,
                                function,
                                {},
                                Process::Command{.input = job_.what.payload.as_json().text()},
                                {.log = [this](std::string_view text) { take_log(text); },
                                 .output = [this](std::string_view text) { take_output(text); },
                                 .ended = [this](int status) { on_exit(status); }}));
  return {};
}

void CommandRun::add_line(std::string_view text) {
  log_.append_line(text);
  record_->add_line(job_.what.request_id, text);
}

void CommandRun::take_log(std::string_view text) {
  log_.append(text);
  lines_.feed(text, [this](std::string_view line) {
    record_->add_line(job_.what.request_id, line);
    if (!trimmed(line).empty()) last_line_ = line;
  });
}

void CommandRun::take_output(std::string_view text) {
  if (kill_reason_ == KillReason::output) return;
  output_ += text;
  if (output_.size() > kPayloadBytesMax) kill_for(KillReason::output);
}

void CommandRun::kill_for(KillReason reason) {
  kill_reason_ = reason;
  due_ = steady_clock::now() + kKilledTimeMax;
  process_->kill();
}

void CommandRun::check(SteadyTime now) {
  if (now >= due_)
    return kill_for(kill_reason_ == KillReason::none ? KillReason::timeout : kill_reason_);
  if (now - measured_ < kLookInterval || kill_reason_ != KillReason::none) return;
  measured_ = now;
  const std::size_t bytes_max = std::size_t{job_.function->memory_mb} << 20;
  if (process_->memory().sample_tree() > bytes_max) kill_for(KillReason::memory);
}

// Uses the command's own error if it printed one: an error document, or the end of its stderr.
Outcome CommandRun::failure(int wait_status) {
  const std::string_view last = trimmed(last_line_);
  if (last.starts_with('{') && is_json(last)) {
    return failed_with_document(std::string(last), "Command.ExitError");
  }
  std::string message = "Command exited with " + describe_exit(wait_status);
  if (!last.empty()) message += fmt::format(": {}", last.substr(0, kMessageBytesMax));
  return failed_with({.type = "Command.ExitError", .message = std::move(message)});
}

Outcome CommandRun::outcome_of(int wait_status) {
  const std::string& id = job_.what.request_id;
  switch (kill_reason_) {
    case KillReason::timeout:
      return failed_with(timeout_error(id, job_.function->timeout));
    case KillReason::memory:
      return failed_with(out_of_memory_error(id));
    case KillReason::output:
      return failed_with(response_too_large_error());
    case KillReason::none:
      break;
  }
  if (wait_status != 0) return failure(wait_status);
  const std::string_view result = trimmed(output_);
  if (result.empty()) return {.payload = "null"};
  return {.payload = is_json(result) ? std::string(result) : json_text(result)};
}

void CommandRun::on_exit(int wait_status) {
  due_ = SteadyTime::max();
  lines_.finish([this](std::string_view line) {
    record_->add_line(job_.what.request_id, line);
    last_line_ = line;
  });
  Outcome outcome = outcome_of(wait_status);
  outcome.fatal = outcome.kind != Outcome::Kind::done;
  outcome.duration = duration_cast<microseconds>(steady_clock::now() - started_);
  add_end(log_,
          *record_,
          job_.what.request_id,
          report_line(job_.what.request_id,
                      outcome.duration,
                      job_.function->memory_mb,
                      process_->memory().bytes_max()));
  outcome.log = log_.take();
  ended_(*this, std::move(outcome));
}

}  // namespace redrive::runtime
