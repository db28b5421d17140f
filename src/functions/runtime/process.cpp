#include "functions/runtime/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace redrive::runtime {
namespace {

// Maximum read from one pipe before others get their turn.
constexpr std::size_t kReadBytesMax = 1u << 20;

// A sandbox reports a signal as 128 + number, like a shell.
int unwrap_status(int wait_status) {
  const bool tells_signal = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) > 128 &&
                            WEXITSTATUS(wait_status) < 128 + NSIG;
  return tells_signal ? WEXITSTATUS(wait_status) - 128 : wait_status;
}

}  // namespace

PipeEnds make_pipe() {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return PipeEnds();
  return {.reading = Descriptor(ends[0]), .writing = Descriptor(ends[1])};
}

void make_nonblocking(const Descriptor& descriptor) {
  if (descriptor.is_open()) ::fcntl(descriptor.number(), F_SETFL, O_NONBLOCK);
}

Result<std::unique_ptr<Process>> Process::start(const ProcessServices& services,
                                                const FunctionSpec& function, const ApiWays& api,
                                                std::optional<Command> command, Hooks hooks) {
  std::unique_ptr<Process> process(new Process(services, std::move(hooks)));
  RETURN_IF_ERROR(process->launch(function, api, std::move(command)));
  return process;
}

Result<void> Process::launch(const FunctionSpec& function, const ApiWays& api,
                             std::optional<Command> command) {
  const InvokerOptions& options = services_.host.options();
  if (services_.host.is_root()) {
    auto user = borrow_user(services_.host.user_claims(), options.user_first, options.user_count);
    if (!user) return fail(ErrorCode::service_unavailable, "All users for functions are in use.");
    user_.emplace(*std::move(user));
  }
  place_ = TRY(services_.host.make_place(user()));
  RETURN_IF_ERROR(services_.host.bring_code(function.code, *place_));
  SpawnRequest request = TRY(plan_launch(services_.host, function, *place_, api));
  if (!services_.host.has_bubblewrap() && !function.code.empty())
    task_directory_ = request.directory;
  PipeEnds log = make_pipe();
  PipeEnds output = command ? make_pipe() : PipeEnds();
  PipeEnds input = command ? make_pipe() : PipeEnds();
  request.user = user();
  request.input = input.reading.number();
  request.output = command ? output.writing.number() : log.writing.number();
  request.errors = log.writing.number();
  if (command) input_text_ = std::move(command->input);
  sandboxed_ = services_.host.has_bubblewrap();
  Spawned spawned = TRY(spawn(request));
  const bool adopted = adopt(std::move(spawned),
                             std::move(log.reading),
                             std::move(output.reading),
                             std::move(input.writing));
  if (!adopted) return fail(ErrorCode::service_unavailable, "Out of descriptors for a process.");
  return {};
}

bool Process::adopt(Spawned spawned, Descriptor log, Descriptor output, Descriptor input) {
  pid_ = spawned.pid;
  memory_.follow(pid_, sandboxed_);
  make_nonblocking(log);
  make_nonblocking(output);
  make_nonblocking(input);
  const bool is_command = output.is_open();
  Poller& poller = services_.poller;
  bool ok = handle_.open(poller, std::move(spawned.handle), [this](auto) { reap(); });
  ok &= log_.open(poller, std::move(log), [this](auto) { read_log(); });
  if (!is_command) return ok;
  ok &= output_.open(poller, std::move(output), [this](auto) { read_output(); });
  ok &= input_.open(poller, std::move(input), [this](auto) { feed(); });
  feed();
  return ok;
}

Process::~Process() {
  kill();
  if (pid_ > 0 && handle_.is_open()) ::waitpid(pid_, nullptr, 0);
  for (Watch* const watch : {&handle_, &log_, &output_, &input_}) watch->close();
  // The user stays claimed until nothing runs as it any more. shared_ptr because std::function must
  // be copyable.
  services_.janitor.ask([user = std::make_shared<std::optional<BorrowedUser>>(std::move(user_)),
                         place = place_,
                         leader = pid_] {
    if (leader > 0)
      user->has_value() ? end_processes_of_user((*user)->id()) : end_processes_of_session(leader);
    std::error_code ignored;
    if (place) std::filesystem::remove_all(place->directory, ignored);
  });
}

void Process::signal_all(int signal) {
  if (is_running()) ::kill(-pid_, signal);
}

void Process::drain() {
  read_log();
  read_output();
}

void Process::read_from(Watch& pipe, const std::function<void(std::string_view)>& tell) {
  if (!pipe.is_open()) return;
  std::array<char, 64u << 10> bytes;
  for (std::size_t total = 0; total < kReadBytesMax;) {
    const ssize_t count = ::read(pipe.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // EAGAIN
    if (count == 0) return pipe.close();
    tell({bytes.data(), static_cast<std::size_t>(count)});
    total += static_cast<std::size_t>(count);
    if (static_cast<std::size_t>(count) < bytes.size()) return;  // Drained.
  }
  // Edge-triggered: the rest is not reported again.
  services_.poller.post([this, &pipe, &tell] { read_from(pipe, tell); });
}

// The process may not read all of its input.
void Process::feed() {
  while (input_.is_open()) {
    const std::string_view rest = std::string_view(input_text_).substr(input_fed_);
    const ssize_t count = ::write(input_.number(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count > 0) input_fed_ += static_cast<std::size_t>(count);
    if (count < 0 || input_fed_ == input_text_.size()) input_.close();
  }
}

void Process::reap() {
  // Until it is reaped, neither its pid nor its process group can be reused.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) return;
  handle_.close();
  drain();
  hooks_.ended(sandboxed_ ? unwrap_status(status) : status);
}

}  // namespace redrive::runtime
