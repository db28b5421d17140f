#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redrive::monitor {

// The file system that holds the data directory.
struct DiskReading {
  std::uint64_t free_bytes = 0;  // Available to this user.
  std::uint64_t total_bytes = 0;
};
// nullopt if it cannot be read, for example because the directory is gone.
std::optional<DiskReading> read_disk(const std::string& directory);

enum class DiskState : std::uint8_t {
  ok,
  low,   // Less than a tenth is free.
  full,  // No space for another journal segment: sends are refused, or soon will be.
};
std::string_view name_of(DiskState state);

// Free space needed for the journal to continue.
struct DiskNeeds {
  std::uint64_t segment_bytes = 0;
  bool has_room = true;  // Whether the journal still accepts sends.
};
// The state that follows `before`, with hysteresis, so that a disk at a threshold does not change
// its state every second. Pure.
DiskState judge_disk(const DiskReading& reading, const DiskNeeds& needs, DiskState before);

}  // namespace redrive::monitor
