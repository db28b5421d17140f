// Alarm targets that are commands.

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "observe/alarms/target.h"

namespace redrive::alarms {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{20};

std::unexpected<Error> not_run(std::string message) {
  return fail(ErrorCode::network, std::move(message));
}

sigset_t broken_pipe_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

// A command may exit without reading its input. While this object lives, writing to a closed pipe
// fails with EPIPE instead of raising SIGPIPE in this thread.
class NoBrokenPipe {
 public:
  NoBrokenPipe() { pthread_sigmask(SIG_BLOCK, &signal_, &before_); }
  ~NoBrokenPipe() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec now{};
      sigtimedwait(&signal_, nullptr, &now);  // Discards a signal that became pending meanwhile.
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  const sigset_t signal_ = broken_pipe_signal();
  sigset_t before_{};
};

// In its own process group, so that its children can be killed with it; with no signals blocked or
// ignored.
Result<pid_t> start(const std::string& command, const Notice& notice, int input) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  const sigset_t broken_pipe = broken_pipe_signal();
  posix_spawnattr_setsigdefault(&attributes, &broken_pipe);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> texts = {"REDRIVE_ALARM_STATE=" + notice.state,
                                    "REDRIVE_ALARM_TITLE=" + notice.title};
  std::vector<char*> environment;
  for (char** at = environ; *at != nullptr; ++at) environment.push_back(*at);
  for (std::string& text : texts) environment.push_back(text.data());
  environment.push_back(nullptr);
  std::string line = command;
  char shell[] = "/bin/sh";
  char option[] = "-c";
  char* const arguments[] = {shell, option, line.data(), nullptr};
  pid_t pid = 0;
  const int fault = posix_spawn(&pid, shell, &files, &attributes, arguments, environment.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (fault != 0) return not_run(fmt::format("{}: {}", command, std::strerror(fault)));
  return pid;
}

// Writes until everything is written, the pipe is closed, or the deadline has passed.
void feed(int pipe, std::string_view bytes, SteadyClock::time_point deadline) {
  const NoBrokenPipe quiet;
  while (!bytes.empty() && SteadyClock::now() < deadline) {
    pollfd ready{.fd = pipe, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, static_cast<int>(kLook.count())) <= 0) continue;
    const ssize_t written = write(pipe, bytes.data(), bytes.size());
    if (written < 0 && errno != EAGAIN && errno != EINTR) return;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Result<std::string> run_command(const std::string& command, const Notice& notice,
                                std::chrono::milliseconds timeout) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return not_run("cannot create a pipe for the command");
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  const auto started = start(command, notice, ends[0]);
  close(ends[0]);
  const auto deadline = SteadyClock::now() + timeout;
  if (started) feed(ends[1], notice.json, deadline);
  close(ends[1]);
  if (!started) return std::unexpected(started.error());
  int status = 0;
  bool killed = false;
  while (waitpid(*started, &status, WNOHANG) == 0) {
    if (SteadyClock::now() >= deadline) {
      kill(-*started, SIGKILL);
      killed = true;
    }
    std::this_thread::sleep_for(kLook);
  }
  if (killed) return not_run(fmt::format("{}: took more than {}", command, timeout));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "exit status 0";
  return not_run(fmt::format("{}: exited with {}", command, WEXITSTATUS(status)));
}

}  // namespace redrive::alarms
