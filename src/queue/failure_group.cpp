#include "queue/failure_group.h"

#include <algorithm>

namespace redrive::queue {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

std::int64_t hour_of(Timestamp wall) {
  return wall.ms() / kHourMs;
}

std::size_t slot_of(std::int64_t hour) {
  return static_cast<std::size_t>(hour % static_cast<std::int64_t>(kGroupHours));
}

}  // namespace

void GroupArrivals::note(Timestamp wall) {
  ++total;
  if (first_wall == Timestamp()) first_wall = wall;
  const std::int64_t hour = hour_of(wall);
  const std::int64_t last = hour_of(last_wall);
  // Hours without arrivals have old counts in their slots.
  for (std::int64_t h = std::max(last + 1, hour - static_cast<std::int64_t>(kGroupHours) + 1);
       h <= hour;
       ++h) {
    by_hour[slot_of(h)] = 0;
  }
  last_wall = std::max(last_wall, wall);
  ++by_hour[slot_of(hour)];
}

std::array<std::uint32_t, kGroupHours> GroupArrivals::lately(Timestamp wall) const {
  std::array<std::uint32_t, kGroupHours> counts{};
  const std::int64_t now = hour_of(wall);
  for (std::size_t i = 0; i < kGroupHours; ++i) {
    const std::int64_t hour = now - static_cast<std::int64_t>(kGroupHours - 1 - i);
    const bool kept = hour <= hour_of(last_wall) &&
                      hour > hour_of(last_wall) - static_cast<std::int64_t>(kGroupHours);
    if (kept) counts[i] = by_hour[slot_of(hour)];
  }
  return counts;
}

void note_name(std::vector<NameIndex>& names, NameIndex name) {
  if (name == NameIndex::none || names.size() == kGroupNamesMax) return;
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

void FailureGroup::add_sample(MessageKey message) {
  if (samples.size() < kGroupSamples) {
    samples.push_back(message);
  } else {
    samples[next_sample] = message;
  }
  next_sample = (next_sample + 1) % kGroupSamples;
}

}  // namespace redrive::queue
