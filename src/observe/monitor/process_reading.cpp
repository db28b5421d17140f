#include "observe/monitor/process_reading.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace redrive::monitor {

ProcessReading read_process() {
  ProcessReading reading;
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  if (std::ifstream("/proc/self/statm") >> total_pages >> resident_pages) {
    reading.resident_bytes = resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    reading.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return reading;
}

std::uint64_t count_open_files() {
  std::uint64_t count = 0;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at("/proc/self/fd", ignored), end; at != end;
       at.increment(ignored)) {
    ++count;
  }
  return count;
}

}  // namespace redrive::monitor
