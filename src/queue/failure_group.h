#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "queue/code_use.h"
#include "queue/ids.h"

namespace redrive::queue {

// What tells a group from others, and says it to people. Made by dead_letter::fingerprint.
struct GroupIdentity {
  std::array<std::uint8_t, 16> id{};
  std::uint8_t basis = 0;
  std::string title;
  std::string reason;  // Why its messages are together.

  friend bool operator==(const GroupIdentity&, const GroupIdentity&) = default;
};

enum class GroupStatus : std::uint8_t {
  fresh,      // Nobody has looked at it yet.
  known,      // Somebody has.
  regressed,  // It was resolved, and came again.
  ignored,
  resolved,
};

inline constexpr std::size_t kGroupHours = 24;
inline constexpr std::size_t kGroupNamesMax = 8;
inline constexpr std::size_t kGroupSamples = 256;
inline constexpr std::size_t kGroupsPerQueue = 1'000;

// What has come into a group so far, whether it is still there or not.
struct GroupArrivals {
  std::uint64_t total = 0;
  std::uint64_t failed_again = 0;  // Of those: after a redrive, from this very group.
  Timestamp first_wall;
  Timestamp last_wall;
  std::array<std::uint32_t, kGroupHours> by_hour{};  // Slot n: hours whose number is n modulo 24.
  std::vector<NameIndex> sources;                    // At most kGroupNamesMax, like the next.
  std::vector<NameIndex> consumers;

  friend bool operator==(const GroupArrivals&, const GroupArrivals&) = default;

  void note(Timestamp wall);
  // Arrivals of the last kGroupHours hours, the present one last.
  std::array<std::uint32_t, kGroupHours> lately(Timestamp wall) const;
};

// Adds a name if it is new and there is room.
void note_name(std::vector<NameIndex>& names, NameIndex name);

// Dead letters of one queue that failed for the same reason.
struct FailureGroup {
  FailureGroupKey key;
  QueueKey queue;
  GroupIdentity identity;
  GroupStatus status = GroupStatus::fresh;
  std::string note;
  NameIndex marked_by = NameIndex::none;
  GroupArrivals arrivals;
  std::uint64_t count = 0;          // Messages that are in it now.
  std::vector<MessageKey> samples;  // Some that are or were, the last kGroupSamples.
  std::size_t next_sample = 0;
  CodeUses codes;  // That its messages failed with; only `failed` counts.

  void add_sample(MessageKey message);
};

}  // namespace redrive::queue
