#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/host.h"
#include "runtime/janitor.h"
#include "runtime/launch.h"
#include "runtime/memory_use.h"
#include "runtime/users.h"
#include "runtime/watch.h"

namespace redrive::runtime {

struct PipeEnds {
  Descriptor reading{};
  Descriptor writing{};
};
// Closed when there are no descriptors left. Whoever keeps an end must not wait at it.
PipeEnds make_pipe();
void make_nonblocking(const Descriptor& descriptor);

// What every process of the invoker's needs around it.
struct Grounds {
  Poller& poller;
  Host& host;
  Janitor& janitor;
};

// One process of a function and everything that came from it: its user, its place on disk, its
// pipes. All of it is gone some time after the object is; nothing of it outlives the server's
// thread. Lives on the poller's thread and is freed by an errand of it.
class Process {
 public:
  struct Hooks {
    std::function<void(std::string_view)> log;     // What was written to the log.
    std::function<void(std::string_view)> output;  // What a command wrote as its result.
    std::function<void(int wait_status)> ended;    // Once; all output has been told before.
  };
  // A command is given its event here; others fetch it and write to their log only.
  struct Command {
    std::string input;
  };

  static Result<std::unique_ptr<Process>> start(const Grounds& grounds,
                                                const FunctionSpec& function, const ApiWays& api,
                                                std::optional<Command> command, Hooks hooks);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::optional<unsigned> user() const { return user_ ? std::optional(user_->id()) : std::nullopt; }
  bool is_running() const { return handle_.is_open(); }
  // Asks the process and its children to end.
  void terminate() { signal_all(SIGTERM); }
  // Does not ask.
  void kill() { signal_all(SIGKILL); }
  // Tells what is in the pipes now.
  void drain();
  MemoryUse& memory() { return memory_; }
  // Where the process sees its code, if that is not /var/task.
  const std::string& task_directory() const { return task_directory_; }

 private:
  Process(const Grounds& grounds, Hooks hooks) : grounds_(grounds), hooks_(std::move(hooks)) {}

  Result<void> launch(const FunctionSpec& function, const ApiWays& api,
                      std::optional<Command> command);
  bool adopt(Spawned spawned, Descriptor log, Descriptor output, Descriptor input);
  void read_log() { read_from(log_, hooks_.log); }
  void read_output() { read_from(output_, hooks_.output); }
  void read_from(Watch& pipe, const std::function<void(std::string_view)>& tell);
  void feed();
  void reap();
  void signal_all(int signal);

  Grounds grounds_;
  Hooks hooks_;
  std::optional<BorrowedUser> user_;
  std::optional<Place> place_;
  std::string task_directory_;
  pid_t pid_ = -1;
  bool sandboxed_ = false;
  MemoryUse memory_;
  std::string input_text_;
  std::size_t input_fed_ = 0;
  Watch handle_;
  Watch log_;
  Watch output_;
  Watch input_;
};

}  // namespace redrive::runtime
