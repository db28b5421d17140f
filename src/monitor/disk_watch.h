#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redrive::monitor {

// The file system that holds the data directory.
struct DiskReading {
  std::uint64_t free_bytes = 0;  // As far as this user may use them.
  std::uint64_t total_bytes = 0;
};
// None where there is nothing to be read, such as a directory that is gone.
std::optional<DiskReading> read_disk(const std::string& directory);

enum class DiskState : std::uint8_t {
  ok,
  low,   // Less than a tenth is free.
  full,  // There is no space for another segment of the journal: sends are refused, or soon will
         // be.
};
std::string_view name_of(DiskState state);

// What has to be free so that the journal can go on.
struct DiskNeeds {
  std::uint64_t segment_bytes = 0;
  bool has_room = true;  // Whether the journal still takes what is sent.
};
// The state after `before`. A state ends at a distance from where it begins, so that a disk at the
// limit does not change its state every second. Pure.
DiskState judge_disk(const DiskReading& reading, const DiskNeeds& needs, DiskState before);

}  // namespace redrive::monitor
