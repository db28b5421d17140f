#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/queue/code_use.h"
#include "core/queue/ids.h"

namespace redrive::queue {

// Identifies and describes a group. Made by triage::fingerprint.
struct GroupIdentity {
  std::array<std::uint8_t, 16> id{};
  std::uint8_t basis = 0;
  std::string title;
  std::string reason;  // Why its messages are grouped.

  friend bool operator==(const GroupIdentity&, const GroupIdentity&) = default;
};

enum class GroupStatus : std::uint8_t {
  fresh,      // New: not viewed yet.
  known,      // Viewed.
  regressed,  // Resolved or ignored, and has a new dead letter.
  ignored,
  resolved,
};

inline constexpr std::size_t kGroupHours = 24;
inline constexpr std::size_t kGroupDays = 14;
// The last five minutes, and the hour before them.
inline constexpr std::size_t kGroupMinutes = 65;
inline constexpr std::size_t kGroupNamesMax = 8;
inline constexpr std::size_t kGroupSamples = 256;
inline constexpr std::size_t kGroupsPerQueue = 1'000;

// Everything that was ever added to a group.
struct GroupArrivals {
  std::uint64_t total = 0;
  std::uint64_t failed_again = 0;  // Of those: after a redrive, from this very group.
  Timestamp first_wall;
  Timestamp last_wall;
  // Rings: slot n has the hour (day, minute) whose number is n modulo the size.
  std::array<std::uint32_t, kGroupHours> by_hour{};
  std::array<std::uint32_t, kGroupDays> by_day{};
  std::array<std::uint32_t, kGroupMinutes> by_minute{};
  std::vector<NameIndex> sources;  // At most kGroupNamesMax, like the next.
  std::vector<NameIndex> consumers;

  friend bool operator==(const GroupArrivals&, const GroupArrivals&) = default;

  void note(Timestamp wall);
  // Arrivals of the last kGroupHours hours, the present one last.
  std::array<std::uint32_t, kGroupHours> lately(Timestamp wall) const;
  // The same by days and by minutes.
  std::array<std::uint32_t, kGroupDays> daily(Timestamp wall) const;
  std::array<std::uint32_t, kGroupMinutes> minutely(Timestamp wall) const;
  // Whether arrivals are growing fast: at least 0.5 a minute over the last five minutes, and more
  // than five times the rate of the hour before.
  bool is_escalating(Timestamp wall) const;
  // Adds the arrivals of another group.
  void absorb(const GroupArrivals& other);
};

// Adds a name if it is new and the list is not full.
void note_name(std::vector<NameIndex>& names, NameIndex name);

// Dead letters of one queue that failed for the same reason.
struct FailureGroup {
  FailureGroupKey key;
  QueueKey queue;
  GroupIdentity identity;
  GroupStatus status = GroupStatus::fresh;
  std::string note;
  std::string owner;
  // While ignored: until when (wall time), or until how many have come in all. Zero: no such limit.
  Timestamp ignored_until;
  std::uint64_t ignored_to_total = 0;
  NameIndex marked_by = NameIndex::none;
  GroupArrivals arrivals;
  std::uint64_t count = 0;          // Messages that are in it now.
  std::vector<MessageKey> samples;  // Some that are or were, the last kGroupSamples.
  std::size_t next_sample = 0;
  CodeUses codes;  // That its messages failed with; only `failed` counts.

  void add_sample(MessageKey message);
  // The status at that time: an ignored group whose time or count is up is a known one.
  GroupStatus status_at(Timestamp wall) const;
};

inline constexpr std::size_t kGroupRulesPerQueue = 100;
inline constexpr std::size_t kGroupRuleFilterBytesMax = 4096;

// Made manually: dead letters whose fingerprint is `from` belong to the group `into`. Without a
// filter it merges two groups, with one it splits a group.
struct GroupRule {
  std::uint32_t number = 0;  // Within its queue; rules apply in this order.
  std::array<std::uint8_t, 16> from{};
  std::string filter;  // triage::Filter; empty: all.
  GroupIdentity into;
  NameIndex made_by = NameIndex::none;
  Timestamp made_wall;
  bool applied = false;  // To the messages that existed when it was made.

  bool merges() const { return filter.empty(); }
  friend bool operator==(const GroupRule&, const GroupRule&) = default;
};

}  // namespace redrive::queue
