#include "observe/monitor/disk_watch.h"

#include <sys/statvfs.h>

namespace redrive::monitor {
namespace {

constexpr std::uint64_t kLowPercent = 10;
constexpr std::uint64_t kLowEndsPercent = 12;

bool has_percent(const DiskReading& reading, std::uint64_t percent) {
  return reading.free_bytes / percent >= reading.total_bytes / 100;
}

}  // namespace

std::optional<DiskReading> read_disk(const std::string& directory) {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0) return std::nullopt;
  return DiskReading{.free_bytes = std::uint64_t{status.f_bavail} * status.f_frsize,
                     .total_bytes = std::uint64_t{status.f_blocks} * status.f_frsize};
}

std::string_view name_of(DiskState state) {
  switch (state) {
    case DiskState::ok:
      return "ok";
    case DiskState::low:
      return "low";
    case DiskState::full:
      return "full";
  }
  return "ok";
}

DiskState judge_disk(const DiskReading& reading, const DiskNeeds& needs, DiskState before) {
  const std::uint64_t needed = before == DiskState::full
                                   ? needs.segment_bytes + needs.segment_bytes / 4
                                   : needs.segment_bytes;
  if (!needs.has_room || reading.free_bytes < needed) return DiskState::full;
  const std::uint64_t percent = before == DiskState::ok ? kLowPercent : kLowEndsPercent;
  return has_percent(reading, percent) ? DiskState::ok : DiskState::low;
}

}  // namespace redrive::monitor
