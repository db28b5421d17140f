#include "functions/runtime/host.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/text.h"
#include "functions/runtime/bootstrap_text.h"

namespace redrive::runtime {
namespace {

namespace fs = std::filesystem;

constexpr int kTrialMs = 5'000;
constexpr std::array kSystemDirectories = {"/usr/local/bin", "/usr/bin", "/bin"};

bool everybody_may_read(const fs::path& path) {
  std::error_code error;
  constexpr auto kWanted = fs::perms::others_read | fs::perms::others_exec;
  if ((fs::status(path, error).permissions() & kWanted) != kWanted || error) return false;
  for (fs::path above = fs::absolute(path).parent_path();; above = above.parent_path()) {
    const auto permissions = fs::status(above, error).permissions();
    if (error || (permissions & fs::perms::others_exec) == fs::perms::none) return false;
    if (above == above.root_path()) return true;
  }
}

// `for_everybody`: skips programs that other users cannot reach, such as those below root's home.
std::string find_program(const std::vector<std::string>& names, bool for_everybody = false) {
  std::vector<std::string> directories(kSystemDirectories.begin(), kSystemDirectories.end());
  const char* const path = std::getenv("PATH");
  for (const auto part : split(path != nullptr ? path : "", ':')) directories.emplace_back(part);
  for (const std::string& name : names) {
    for (const std::string& directory : directories) {
      const std::string candidate = directory + "/" + name;
      if (!directory.starts_with('/') || ::access(candidate.c_str(), X_OK) != 0) continue;
      std::error_code error;
      const bool fits = !for_everybody || (everybody_may_read(candidate) &&
                                           everybody_may_read(fs::canonical(candidate, error)));
      if (fits) return candidate;
    }
  }
  return {};
}

Result<void> write_script(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return fail(ErrorCode::storage_io, fmt::format("Cannot write {}.", path.string()));
  ::chmod(path.c_str(), 0644);
  return {};
}

Result<void> make_directory(const fs::path& path, mode_t mode) {
  std::error_code error;
  fs::create_directories(path, error);
  // Explicit chmod because of the umask.
  if (error || ::chmod(path.c_str(), mode) != 0) {
    return fail(ErrorCode::storage_io,
                fmt::format("Cannot create the directory {}.", path.string()));
  }
  return {};
}

}  // namespace

Result<Host> Host::examine(InvokerOptions options) {
  Host host(std::move(options));
  host.root_ = ::geteuid() == 0;
  if (host.root_) {
    host.user_claims_ = user_claims_directory();
    end_stray_processes(host.user_claims_, host.options_.user_first, host.options_.user_count);
  }
  RETURN_IF_ERROR(host.prepare_scratch());
  RETURN_IF_ERROR(host.try_user());
  host.try_mounts();
  if (host.options_.sandbox != InvokerOptions::Sandbox::off) host.try_bubblewrap();
  if (host.options_.sandbox == InvokerOptions::Sandbox::required && !host.has_bubblewrap()) {
    return fail(ErrorCode::usage,
                "A sandbox for functions is required, but bubblewrap (bwrap) is not installed or "
                "does not work here.");
  }
  return host;
}

Result<void> Host::prepare_scratch() {
  std::error_code error;
  options_.scratch = fs::absolute(options_.scratch, error);
  fs::remove_all(options_.scratch, error);
  RETURN_IF_ERROR(make_directory(options_.scratch, 0711));
  RETURN_IF_ERROR(make_directory(runtime_directory(), 0755));
  RETURN_IF_ERROR(write_script(runtime_directory() / "bootstrap.py", python_bootstrap()));
  return write_script(runtime_directory() / "bootstrap.mjs", node_bootstrap());
}

// Runs a test process to completion.
bool Host::runs(SpawnRequest request) const {
  request.directory = "/";
  std::optional<BorrowedUser> user;
  if (root_) {
    if (auto lent = borrow_user(user_claims_, options_.user_first, options_.user_count)) {
      user.emplace(*std::move(lent));
    }
    request.user = user ? user->id() : options_.user_first;
  }
  const auto trial = spawn(request);
  if (!trial) return false;
  pollfd waited{.fd = trial->handle.number(), .events = POLLIN, .revents = 0};
  if (::poll(&waited, 1, kTrialMs) != 1) ::kill(trial->pid, SIGKILL);
  int status = 0;
  return ::waitpid(trial->pid, &status, 0) == trial->pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

bool Host::user_can_see(const fs::path& path) const {
  return runs(
      {.program = "/bin/sh", .arguments = {"sh", "-c", "test -r \"$1\"", "sh", path.string()}});
}

Result<void> Host::try_user() {
  if (user_can_see(runtime_directory() / "bootstrap.py")) return {};
  return fail(ErrorCode::usage,
              fmt::format("Functions run as an unprivileged user that cannot access {}: choose a "
                          "scratch directory that every user can access.",
                          options_.scratch.string()));
}

void Host::try_mounts() {
  if (!root_ || !options_.may_mount) return;
  const std::string target = runtime_directory();
  mounts_ = runs({.program = "/bin/true",
                  .arguments = {"true"},
                  .mounts = {{.source = target, .target = target}}});
}

void Host::try_bubblewrap() {
  const std::string found = find_program({"bwrap"});
  if (found.empty()) return;
  SpawnRequest trial{.program = found, .arguments = sandbox_arguments(found)};
  trial.arguments.push_back("/bin/true");
  if (runs(std::move(trial))) bubblewrap_ = found;
}

Result<void> Host::check_bubblewrap() {
  if (!has_bubblewrap() || ::access(bubblewrap_.c_str(), X_OK) == 0) return {};
  if (options_.sandbox == InvokerOptions::Sandbox::required) {
    return fail(
        ErrorCode::usage,
        fmt::format("A sandbox for functions is required, but {} is missing: reinstall bubblewrap.",
                    bubblewrap_));
  }
  const std::string gone = std::exchange(bubblewrap_, {});
  if (options_.warn) {
    options_.warn(
        fmt::format("{} is missing: functions started from now on run without a sandbox; reinstall "
                    "bubblewrap and restart the server",
                    gone));
  }
  return {};
}

std::string Host::isolation() const {
  std::string words = "in separate sessions, with limits";
  if (root_) {
    words += fmt::format(", each process as a separate user ({} to {})",
                         options_.user_first,
                         options_.user_first + options_.user_count - 1);
  }
  if (mounts_) words += ", the server's data hidden";
  words += has_bubblewrap() ? ", in bubblewrap" : ", without a sandbox";
  return words;
}

Result<Place> Host::make_place(std::optional<unsigned> user) {
  Place place{.directory = options_.scratch / fmt::format("process-{}", ++places_)};
  RETURN_IF_ERROR(make_directory(place.directory, 0711));
  RETURN_IF_ERROR(make_directory(place.tmp(), 0700));
  RETURN_IF_ERROR(make_directory(place.task(), 0755));
  if (user && ::chown(place.tmp().c_str(), *user, *user) != 0) {
    return fail(ErrorCode::storage_io,
                fmt::format("Cannot change the owner of {}.", place.tmp().string()));
  }
  return place;
}

// For code that the functions' user cannot read and that cannot be mounted either, for example in a
// container.
bool Host::must_copy(const fs::path& code) const {
  return root_ && !mounts_ && !code.empty() && !everybody_may_read(code);
}

fs::path Host::code_path(const fs::path& code, const Place& place) const {
  return mounts_ || must_copy(code) ? place.task() : fs::absolute(code);
}

Result<void> Host::bring_code(const fs::path& code, const Place& place) const {
  if (!must_copy(code)) return {};
  std::error_code error;
  fs::copy(code,
           place.task(),
           fs::copy_options::recursive | fs::copy_options::copy_symlinks |
               fs::copy_options::overwrite_existing,
           error);
  if (!error) return {};
  return fail(ErrorCode::storage_io,
              fmt::format("Cannot copy {}: {}", code.string(), error.message()));
}

std::string Host::interpreter(const std::string& runtime) {
  const bool python = runtime.starts_with("python");
  const std::string family = python ? "python" : "nodejs";
  for (const std::string& name : {runtime, family}) {
    const auto chosen = options_.interpreters.find(name);
    if (chosen != options_.interpreters.end()) return chosen->second;
  }
  const auto [entry, is_new] = interpreters_.try_emplace(runtime);
  if (is_new) entry->second = find_interpreter(runtime, root_);
  return entry->second;
}

std::string find_interpreter(const std::string& runtime, bool for_everybody) {
  return find_program(runtime.starts_with("python") ? std::vector<std::string>{runtime, "python3"}
                                                    : std::vector<std::string>{"node", "nodejs"},
                      for_everybody);
}

std::vector<std::string> sandbox_arguments(const std::string& bubblewrap) {
  std::vector<std::string> arguments = {
      bubblewrap, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"};
  for (const char* const shown : {"/usr",
                                  "/bin",
                                  "/sbin",
                                  "/lib",
                                  "/lib32",
                                  "/lib64",
                                  "/etc",
                                  "/opt",
                                  "/run/systemd/resolve"}) {
    arguments.insert(arguments.end(), {"--ro-bind-try", shown, shown});
  }
  arguments.insert(arguments.end(), {"--proc", "/proc", "--dev", "/dev"});
  return arguments;
}

}  // namespace redrive::runtime
