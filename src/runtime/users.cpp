#include "runtime/users.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/text.h"

namespace redrive::runtime {
namespace {

// A process that forks as fast as it is killed is outnumbered after a few rounds.
constexpr int kRoundsMax = 50;

// An abstract name: no file, gone with its owner.
bool claim_user(const http::Descriptor& socket, unsigned user) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("redrive-user-{}", user);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), bytes) == 0;
}

// None for a process that is gone, or as good as gone.
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
  // The name stands in parentheses and may hold anything.
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

// How many were found.
int kill_those(const std::function<bool(const std::filesystem::path&)>& meant) {
  int found = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = parse_int<int>(entry.path().filename().string());
    if (!pid || !meant(entry.path())) continue;
    ::kill(*pid, SIGKILL);
    ++found;
  }
  return found;
}

void kill_all_of(const std::function<bool(const std::filesystem::path&)>& meant) {
  for (int round = 0; round < kRoundsMax && kill_those(meant) > 0; ++round) {
  }
}

}  // namespace

std::optional<BorrowedUser> borrow_user(unsigned first, unsigned count) {
  http::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return std::nullopt;
  for (unsigned user = first; user < first + count; ++user) {
    if (claim_user(socket, user)) return BorrowedUser{.id = user, .claim = std::move(socket)};
  }
  return std::nullopt;
}

void end_processes_of_user(unsigned user) {
  kill_all_of([user](const auto& process) { return user_of(process) == user; });
}

void end_stray_processes(unsigned first, unsigned count) {
  kill_those([first, count](const auto& process) {
    const auto user = user_of(process);
    return user && *user >= first && *user - first < count && borrow_user(*user, 1);
  });
}

void end_processes_of_session(int leader) {
  kill_all_of([leader](const auto& process) { return is_in_session(process, leader); });
}

}  // namespace redrive::runtime
