#include "cli/client/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace redrive::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kReasonBytesMax = 1000;
constexpr std::chrono::milliseconds kGlance{20};

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool is_open() const { return ends_[0] >= 0; }
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

// Serves the pipes of one child until it exits.
class Conversation {
 public:
  Conversation(pid_t child, Pipe& input, Pipe& errors, std::string_view text)
      : child_(child), input_(input), errors_(errors), text_(text) {
    fcntl(input_.writing(), F_SETFL, O_NONBLOCK);
    fcntl(errors_.reading(), F_SETFL, O_NONBLOCK);
    if (text_.empty()) input_.close_end(1);
  }

  // The wait status, or -1 if its time was up.
  int serve(Duration time_max, Duration tick_every, const std::function<void()>& tick) {
    const auto end = SteadyClock::now() + time_max;
    auto next_tick = SteadyClock::now() + tick_every;
    while (true) {
      std::array<pollfd, 2> waits = {pollfd{errors_.reading(), POLLIN, 0},
                                     pollfd{input_.writing(), POLLOUT, 0}};
      poll(waits.data(), input_.writing() >= 0 ? 2 : 1, kGlance.count());
      feed();
      listen();
      int status = 0;
      if (waitpid(child_, &status, WNOHANG) == child_) return listen(), status;
      if (SteadyClock::now() >= next_tick) {
        tick();
        next_tick = SteadyClock::now() + tick_every;
      }
      if (SteadyClock::now() < end) continue;
      kill(-child_, SIGKILL);
      waitpid(child_, &status, 0);
      return -1;
    }
  }

  const std::string& said() const { return said_; }

 private:
  // The child may not read all of its input.
  void feed() {
    while (input_.writing() >= 0) {
      const ssize_t written = write(input_.writing(), text_.data(), text_.size());
      if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (written > 0) text_.remove_prefix(static_cast<std::size_t>(written));
      if (written < 0 || text_.empty()) input_.close_end(1);
    }
  }

  void listen() {
    std::array<char, 4096> bytes;
    ssize_t got = 0;
    while ((got = read(errors_.reading(), bytes.data(), bytes.size())) > 0) {
      said_.append(bytes.data(), static_cast<std::size_t>(got));
      if (said_.size() > kReasonBytesMax) said_.erase(0, said_.size() - kReasonBytesMax);
    }
    if (got == 0) std::this_thread::sleep_for(kGlance);  // Closed: poll() would return immediately.
  }

  const pid_t child_;
  Pipe& input_;
  Pipe& errors_;
  std::string_view text_;
  std::string said_;
};

// In the child. Everything for exec was prepared before the fork: other threads may hold locks.
[[noreturn]] void become(const Pipe& input, const Pipe& errors, char* const* arguments,
                         char* const* environment) {
  setpgid(0, 0);
  dup2(input.reading(), STDIN_FILENO);
  dup2(errors.writing(), STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  execve("/bin/sh", arguments, environment);
  _exit(127);
}

ChildOutcome outcome_of(int status, const std::string& said) {
  if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {.succeeded = true};
  std::string how = "timed out";
  if (status >= 0) {
    how = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                            : fmt::format("signal {}", WTERMSIG(status));
  }
  std::string_view words = said;
  while (words.ends_with('\n')) words.remove_suffix(1);
  return {.succeeded = false, .reason = words.empty() ? how : fmt::format("{}: {}", how, words)};
}

}  // namespace

ChildOutcome run_child(const ChildRequest& request, Duration tick_every,
                       const std::function<void()>& tick) {
  Pipe input;
  Pipe errors;
  if (!input.is_open() || !errors.is_open()) return {.reason = "cannot create a pipe"};
  std::vector<std::string> texts;
  for (char** entry = environ; *entry != nullptr; ++entry) texts.emplace_back(*entry);
  for (const auto& [name, value] : request.environment) {
    // A value with a null byte cannot be passed.
    if (value.find('\0') == std::string::npos) texts.push_back(name + "=" + value);
  }
  std::vector<char*> environment;
  for (std::string& text : texts) environment.push_back(text.data());
  environment.push_back(nullptr);
  std::string shell = "sh";
  std::string flag = "-c";
  std::string command = request.command;
  char* const arguments[] = {shell.data(), flag.data(), command.data(), nullptr};

  const pid_t child = fork();
  if (child == 0) become(input, errors, arguments, environment.data());
  if (child < 0) return {.reason = fmt::format("cannot start a process: {}", strerror(errno))};
  input.close_end(0);
  errors.close_end(1);
  signal(SIGPIPE, SIG_IGN);
  Conversation conversation(child, input, errors, request.input);
  const int status = conversation.serve(request.time_max, tick_every, tick);
  return outcome_of(status, conversation.said());
}

}  // namespace redrive::cli
