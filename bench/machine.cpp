#include "bench/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace redrive::bench {
namespace {

Nanos read_clock(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return Nanos::zero();
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

}  // namespace

std::optional<Nanos> cpu_time_of(pid_t process) {
  clockid_t clock{};
  if (clock_getcpuclockid(process, &clock) != 0) return std::nullopt;
  Nanos total = read_clock(clock);
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process));
  for (pid_t child = 0; children >> child;) total += cpu_time_of(child).value_or(Nanos::zero());
  return total;
}

Nanos own_cpu_time() {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

Result<void> pin_to_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(core), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) == 0) return {};
  return fail(ErrorCode::usage, fmt::format("--core {}: {}", core, std::strerror(errno)));
}

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::string machine_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string name = "unknown processor";
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) name = line.substr(colon + 2);
    break;
  }
  return fmt::format("{} x{}", name, sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace redrive::bench
