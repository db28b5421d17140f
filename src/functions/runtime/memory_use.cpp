#include "functions/runtime/memory_use.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "functions/runtime/spawn.h"

namespace redrive::runtime {
namespace {

// If there are more, only these are counted.
constexpr std::size_t kProcessesMax = 64;

struct Pages {
  unsigned long resident = 0;
  unsigned long shared = 0;
};

http::Descriptor open_statm(pid_t pid) {
  return http::Descriptor(::open(fmt::format("/proc/{}/statm", pid).c_str(), O_RDONLY | O_CLOEXEC));
}

Pages read_statm(const http::Descriptor& file) {
  std::array<char, 128> text{};
  Pages pages;
  if (!file.is_open() || ::pread(file.number(), text.data(), text.size() - 1, 0) <= 0) return pages;
  unsigned long size = 0;
  std::sscanf(text.data(), "%lu %lu %lu", &size, &pages.resident, &pages.shared);
  return pages;
}

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// Already set before exec where permitted (spawn.cpp); processes that a sandbox started earlier
// have not inherited it.
void let_go_before_server(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/oom_score_adj", pid);
  const http::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.is_open()) (void)!::write(file.number(), "1000", 4);
}

// /proc lists children per thread.
void append_children(pid_t pid, std::vector<pid_t>& all) {
  for_each_entry(fmt::format("/proc/{}/task", pid), [&](const auto& task) {
    std::ifstream file(task.path() / "children");
    for (pid_t child = 0; all.size() < kProcessesMax && file >> child;) all.push_back(child);
  });
}

std::vector<pid_t> tree_of(pid_t root) {
  std::vector<pid_t> all = {root};
  for (std::size_t i = 0; i < all.size(); ++i) append_children(all[i], all);
  return all;
}

}  // namespace

bool MemoryUse::has_started() {
  if (started_) return true;
  std::ifstream file(fmt::format("/proc/{}/comm", pid_));
  std::string name;
  started_ = std::getline(file, name) && name != kSpawningName;
  return started_;
}

// Bubblewrap is two processes: one outside, and one inside that reaps orphans.
void MemoryUse::find_program() {
  program_ = pid_;
  for (int depth = 0; wrapped_ && depth < 2; ++depth) {
    std::vector<pid_t> children;
    append_children(program_, children);
    if (children.empty()) return;  // Not started yet.
    program_ = children.front();
  }
  program_statm_ = open_statm(program_);
  let_go_before_server(program_);
}

std::size_t MemoryUse::sample() {
  if (!has_started()) return 0;
  if (!program_statm_.is_open()) find_program();
  const std::size_t bytes = read_statm(program_statm_).resident * page_bytes();
  bytes_max_ = std::max(bytes_max_, bytes);
  return bytes;
}

std::size_t MemoryUse::sample_tree() {
  if (!has_started()) return 0;
  std::size_t bytes = sample();
  for (const pid_t pid : tree_of(pid_)) {
    if (pid == program_) continue;
    // Pages that a fork shares with its parent are counted once.
    const Pages pages = read_statm(open_statm(pid));
    bytes += (pages.resident - std::min(pages.shared, pages.resident)) * page_bytes();
  }
  bytes_max_ = std::max(bytes_max_, bytes);
  return bytes;
}

}  // namespace redrive::runtime
