#include "functions/runtime/users.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include "base/file_system.h"
#include "base/text.h"

namespace redrive::runtime {
namespace {

// Enough to catch a process that forks as fast as it is killed.
constexpr int kRoundsMax = 50;

std::filesystem::path claim_path(const std::filesystem::path& claims, unsigned user) {
  return claims / fmt::format("user-{}", user);
}

// Locks a claim file, creating it if `flags` say so. A file that was removed after it was opened is
// not a valid claim.
http::Descriptor lock_claim(const std::filesystem::path& path, int flags) {
  constexpr int kAlways = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  http::Descriptor file(::open(path.c_str(), kAlways | flags, 0600));
  if (!file.is_open() || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) return http::Descriptor();
  struct stat status {};
  const bool is_there = ::fstat(file.number(), &status) == 0 && status.st_nlink > 0;
  return is_there ? std::move(file) : http::Descriptor();
}

// /proc/PID is owned by the user that the process runs as.
std::set<unsigned> users_with_processes() {
  std::set<unsigned> users;
  for_each_entry("/proc", [&](const std::filesystem::directory_entry& entry) {
    struct stat status {};
    if (!parse_int<int>(entry.path().filename().string())) return;
    if (::stat(entry.path().c_str(), &status) == 0) users.insert(status.st_uid);
  });
  return users;
}

// nullopt if the process is gone or a zombie.
std::optional<unsigned> user_of(const std::filesystem::path& process) {
  std::ifstream file(process / "status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("State:\tZ")) return std::nullopt;
    unsigned real = 0;
    if (std::sscanf(line.c_str(), "Uid:\t%u", &real) == 1) return real;
  }
  return std::nullopt;
}

bool is_in_session(const std::filesystem::path& process, int leader) {
  std::ifstream file(process / "stat");
  std::string line;
  std::getline(file, line);
  // The name is in parentheses and may contain anything.
  const std::size_t name_end = line.rfind(')');
  char state = 0;
  int parent = 0;
  int group = 0;
  int session = 0;
  return name_end != std::string::npos &&
         std::sscanf(
             line.c_str() + name_end + 1, " %c %d %d %d", &state, &parent, &group, &session) == 4 &&
         session == leader && state != 'Z';
}

// Returns how many were found.
int kill_those(const std::function<bool(const std::filesystem::path&)>& meant) {
  int found = 0;
  for_each_entry("/proc", [&](const std::filesystem::directory_entry& entry) {
    const auto pid = parse_int<int>(entry.path().filename().string());
    if (!pid || !meant(entry.path())) return;
    ::kill(*pid, SIGKILL);
    ++found;
  });
  return found;
}

void kill_all_of(const std::function<bool(const std::filesystem::path&)>& meant) {
  for (int round = 0; round < kRoundsMax && kill_those(meant) > 0; ++round) {
  }
}

}  // namespace

std::filesystem::path user_claims_directory() {
  for (const std::filesystem::path& parent :
       {std::filesystem::path("/run"), std::filesystem::temp_directory_path()}) {
    const auto path = parent / "redrive-users";
    struct stat status {};
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) continue;
    // In a world-writable directory another user may have created it.
    const bool ours = ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                      status.st_uid == ::geteuid();
    if (ours && ::access(path.c_str(), W_OK) == 0) return path;
  }
  return {};
}

BorrowedUser::~BorrowedUser() {
  if (claim_.is_open()) ::unlink(path_.c_str());
}

std::optional<BorrowedUser> borrow_user(const std::filesystem::path& claims, unsigned first,
                                        unsigned count) {
  if (claims.empty()) return std::nullopt;
  const std::set<unsigned> busy = users_with_processes();
  for (unsigned user = first; user < first + count; ++user) {
    if (busy.contains(user)) continue;
    const auto path = claim_path(claims, user);
    auto claim = lock_claim(path, O_CREAT);
    if (claim.is_open()) return BorrowedUser(user, path, std::move(claim));
  }
  return std::nullopt;
}

void end_processes_of_user(unsigned user) {
  kill_all_of([user](const auto& process) { return user_of(process) == user; });
}

void end_stray_processes(const std::filesystem::path& claims, unsigned first, unsigned count) {
  for (unsigned user = first; !claims.empty() && user < first + count; ++user) {
    const auto path = claim_path(claims, user);
    auto claim = lock_claim(path, 0);
    if (!claim.is_open()) continue;
    const BorrowedUser left_behind(user, path, std::move(claim));
    end_processes_of_user(user);
  }
}

void end_processes_of_session(int leader) {
  kill_all_of([leader](const auto& process) { return is_in_session(process, leader); });
}

}  // namespace redrive::runtime
