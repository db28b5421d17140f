#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "functions/runtime/host.h"
#include "functions/runtime/janitor.h"
#include "functions/runtime/launch.h"
#include "functions/runtime/memory_use.h"
#include "functions/runtime/users.h"
#include "functions/runtime/watch.h"

namespace redrive::runtime {

struct PipeEnds {
  Descriptor reading{};
  Descriptor writing{};
};
// Not open if out of descriptors. The end kept by the server must be made non-blocking.
PipeEnds make_pipe();
void make_nonblocking(const Descriptor& descriptor);

// What every process of the invoker needs.
struct ProcessServices {
  Poller& poller;
  Host& host;
  Janitor& janitor;
};

// One process of a function and everything it uses: its user, its directory, its pipes. Cleaned up
// some time after the object is destroyed, at the latest when the janitor ends. Lives on the
// poller's thread and is freed by a posted task.
class Process {
 public:
  struct Hooks {
    std::function<void(std::string_view)> log;     // Log output.
    std::function<void(std::string_view)> output;  // A command's result.
    std::function<void(int wait_status)> ended;    // Called once, after all output.
  };
  // A command gets its event as input; other runtimes fetch it and only write logs.
  struct Command {
    std::string input;
  };

  static Result<std::unique_ptr<Process>> start(const ProcessServices& services,
                                                const FunctionSpec& function, const ApiWays& api,
                                                std::optional<Command> command, Hooks hooks);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::optional<unsigned> user() const { return user_ ? std::optional(user_->id()) : std::nullopt; }
  bool is_running() const { return handle_.is_open(); }
  // Sends SIGTERM to the process and its children.
  void terminate() { signal_all(SIGTERM); }
  // Sends SIGKILL.
  void kill() { signal_all(SIGKILL); }
  // Reads what is in the pipes now.
  void drain();
  MemoryUse& memory() { return memory_; }
  // Where the process sees its code, if not /var/task.
  const std::string& task_directory() const { return task_directory_; }

 private:
  Process(const ProcessServices& services, Hooks hooks)
      : services_(services), hooks_(std::move(hooks)) {}

  Result<void> launch(const FunctionSpec& function, const ApiWays& api,
                      std::optional<Command> command);
  bool adopt(Spawned spawned, Descriptor log, Descriptor output, Descriptor input);
  void read_log() { read_from(log_, hooks_.log); }
  void read_output() { read_from(output_, hooks_.output); }
  void read_from(Watch& pipe, const std::function<void(std::string_view)>& tell);
  void feed();
  void reap();
  void signal_all(int signal);

  ProcessServices services_;
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
