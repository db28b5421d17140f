#include "sim/replay.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "sim/shrink.h"

namespace redrive::sim {
namespace {

constexpr unsigned kSecondsMax = 60;  // A run that takes longer fails by SIGALRM.

[[noreturn]] void replay_in_child(const Trace& trace, int out) {
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, SIG_DFL);
  (void)!std::freopen("/dev/null", "w", stderr);  // What an assertion says.
  alarm(kSecondsMax);
  const Verdict verdict = Driver({.replay = &trace}).run();
  (void)!write(out, verdict.invariant.data(), verdict.invariant.size());
  _exit(0);
}

std::string read_all(int from) {
  std::string text;
  char buffer[256];
  for (ssize_t got = 0; (got = read(from, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

Result<void> check_trace(const Trace& trace) {
  for (const TracedStep& step : trace.steps) {
    if (!Driver::knows(step.name)) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("there is no step called {}", step.name));
    }
  }
  return {};
}

std::string failure_of(const Trace& trace) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) replay_in_child(trace, ends[1]);
  close(ends[1]);
  const std::string invariant = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? invariant : fmt::format("exit {}", WEXITSTATUS(status));
}

Trace shrink_failure(const Trace& trace) {
  const std::string failure = failure_of(trace);
  if (failure.empty()) return trace;
  const auto fails_so = [&](const Trace& other) { return failure_of(other) == failure; };
  Trace shrunk = shrink(trace, fails_so);
  if (failure.starts_with("signal") || failure.starts_with("exit")) return shrunk;
  Trace again{.remarks = shrunk.remarks};
  Driver({.replay = &shrunk, .record = &again}).run();
  return fails_so(again) ? again : shrunk;
}

}  // namespace redrive::sim
