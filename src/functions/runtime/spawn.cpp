#include "functions/runtime/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

// clone() under another name: ThreadSanitizer treats clone() as a fork with separate memory and
// would mark our process as the child.
extern "C" int __clone(int (*body)(void*), void* stack, int flags, void* argument, ...);

namespace redrive::runtime {
namespace {

constexpr std::size_t kStackBytes = 256u << 10;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// Input for the child, and where it stores the error if it fails.
struct ChildSetup {
  const SpawnRequest& request;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  pid_t parent = ::getpid();
  const char* failed_step = nullptr;
  int error = 0;
};

// --- In the child: system calls only. glibc's setuid and the like would signal other threads, and
// ThreadSanitizer would confuse the child's descriptors with ours. ---

int open_file(const char* path, int flags) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0));
}

bool set_limit(int what, std::size_t value) {
  if (value == 0) return true;
  const rlimit limit{.rlim_cur = value, .rlim_max = value};
  return ::setrlimit(static_cast<__rlimit_resource_t>(what), &limit) == 0;
}

bool set_limits(const SpawnRequest& request) {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  return ::setrlimit(RLIMIT_CORE, &none) == 0 && set_limit(RLIMIT_DATA, request.data_bytes_max) &&
         set_limit(RLIMIT_NPROC, request.processes_max) &&
         set_limit(RLIMIT_FSIZE, request.file_bytes_max) &&
         set_limit(RLIMIT_NOFILE, request.descriptors_max);
}

bool place_descriptors(const SpawnRequest& request) {
  const int nothing = open_file("/dev/null", O_RDWR);
  if (nothing < 0) return false;
  int wanted[] = {
      request.input, request.output, request.errors, request.link_input, request.link_output};
  const int count = request.link_input >= 0 ? 5 : 3;
  for (int& number : wanted) {
    // First move them out of the way of the descriptors about to be replaced.
    number = static_cast<int>(::syscall(SYS_fcntl, number >= 0 ? number : nothing, F_DUPFD, 5));
    if (number < 0) return false;
  }
  for (int i = 0; i < count; ++i) {
    if (::syscall(SYS_dup3, wanted[i], i, 0) < 0) return false;
  }
  return ::syscall(SYS_close_range, static_cast<unsigned>(count), ~0u, 0u) == 0;
}

bool mount_one(const SpawnRequest::Mount& what) {
  const char* const target = what.target.c_str();
  if (what.source.empty()) {
    return ::mount("none", target, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,mode=0555") == 0;
  }
  if (::mount(what.source.c_str(), target, nullptr, MS_BIND, nullptr) != 0) return false;
  const unsigned long kind = MS_BIND | MS_REMOUNT | MS_NOSUID | MS_NODEV;
  return ::mount(nullptr, target, nullptr, kind | (what.writable ? 0 : MS_RDONLY), nullptr) == 0;
}

bool arrange_view(const SpawnRequest& request) {
  if (request.mounts.empty()) return true;
  if (::unshare(CLONE_NEWNS) != 0) return false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  for (const auto& what : request.mounts) {
    if (!mount_one(what)) return false;
  }
  return true;
}

bool become_user(const SpawnRequest& request) {
  if (!request.user) return true;
  const unsigned id = *request.user;
  return ::syscall(SYS_setgroups, 0, nullptr) == 0 && ::syscall(SYS_setresgid, id, id, id) == 0 &&
         ::syscall(SYS_setresuid, id, id, id) == 0;
}

// If the machine runs out of memory, kill functions before the server. While a child shares the
// memory of a non-dumpable server, only root may set this; so it is set again after exec.
void offer_to_oom_killer(const char* path) {
  const int file = open_file(path, O_WRONLY);
  if (file < 0) return;
  (void)!::syscall(SYS_write, file, "1000", 4);
  ::syscall(SYS_close, file);
}

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL) {
      action = {};
      ::sigaction(signal, &action, nullptr);
    }
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

int give_up(ChildSetup& child, const char* step) {
  child.error = errno;
  child.failed_step = step;
  return 127;
}

// Does not return on success, which ThreadSanitizer would attribute to the caller.
__attribute__((no_sanitize_thread)) int child_body(void* argument) {
  ChildSetup& child = *static_cast<ChildSetup*>(argument);
  const SpawnRequest& request = child.request;
  ::syscall(SYS_setsid);
  ::prctl(PR_SET_NAME, kSpawningName);
  offer_to_oom_killer("/proc/self/oom_score_adj");
  if (!place_descriptors(request)) return give_up(child, "its descriptors");
  if (!arrange_view(request)) return give_up(child, "its view of the files");
  // Limits before the user, because one of them counts the user's processes; PDEATHSIG after it,
  // because changing the user clears it.
  if (!set_limits(request)) return give_up(child, "its limits");
  if (!become_user(request)) return give_up(child, "its user");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return give_up(child, "its privileges");
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return give_up(child, "its parent's death");
  if (::syscall(SYS_getppid) != child.parent) return 127;  // It has already died.
  ::umask(0022);
  if (::chdir(request.directory.c_str()) != 0) return give_up(child, request.directory.c_str());
  reset_signals();
  ::execve(request.program.c_str(), child.arguments.data(), child.environment.data());
  return give_up(child, request.program.c_str());
}

}  // namespace

Result<Spawned> spawn(const SpawnRequest& request) {
  ChildSetup child{.request = request,
                   .arguments = pointers(request.arguments),
                   .environment = pointers(request.environment)};
  const auto stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
  int handle = -1;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  // Block signals: a handler running in the child would modify our memory.
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  constexpr int kFlags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
  const pid_t pid = ::__clone(child_body, stack.get() + kStackBytes, kFlags, &child, &handle);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return fail(ErrorCode::service_unavailable,
                fmt::format("Cannot start a process: {}", std::strerror(error)));
  }
  Spawned result{.pid = pid, .handle = Descriptor(handle)};
  if (child.failed_step == nullptr) {
    offer_to_oom_killer(fmt::format("/proc/{}/oom_score_adj", pid).c_str());
    return result;
  }
  ::waitpid(pid, nullptr, 0);
  return fail(
      ErrorCode::service_unavailable,
      fmt::format(
          "Cannot set up a process: {}: {}", child.failed_step, std::strerror(child.error)));
}

}  // namespace redrive::runtime
