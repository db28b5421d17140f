#include "core/queue/failure_group.h"

#include <algorithm>
#include <numeric>

namespace redrive::queue {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr std::size_t kEscalationMinutes = 5;

template <std::size_t size>
using Ring = std::array<std::uint32_t, size>;

template <std::size_t size>
std::size_t slot_of(std::int64_t number) {
  return static_cast<std::size_t>(number % static_cast<std::int64_t>(size));
}

// Counts one in unit number `at`, when the ring so far ends with unit number `last`.
template <std::size_t size>
void count_in(Ring<size>& ring, std::int64_t last, std::int64_t at) {
  constexpr auto kSize = static_cast<std::int64_t>(size);
  if (at <= last - kSize) return;  // Older than what is kept.
  // Units without arrivals have old counts in their slots.
  for (std::int64_t n = std::max(last + 1, at - kSize + 1); n <= at; ++n)
    ring[slot_of<size>(n)] = 0;
  ++ring[slot_of<size>(at)];
}

// The counts up to unit number `now`, the newest last.
template <std::size_t size>
Ring<size> read_ring(const Ring<size>& ring, std::int64_t last, std::int64_t now) {
  constexpr auto kSize = static_cast<std::int64_t>(size);
  Ring<size> counts{};
  for (std::size_t i = 0; i < size; ++i) {
    const std::int64_t at = now - (kSize - 1 - static_cast<std::int64_t>(i));
    if (at >= 0 && at <= last && at > last - kSize) counts[i] = ring[slot_of<size>(at)];
  }
  return counts;
}

// Adds the counts of a ring that ends with `other_last` to one that ends with `last`, which is not
// earlier.
template <std::size_t size>
void add_ring(Ring<size>& ring, std::int64_t last, const Ring<size>& other,
              std::int64_t other_last) {
  const Ring<size> counts = read_ring(other, other_last, last);
  for (std::size_t i = 0; i < size; ++i) {
    const std::int64_t at = last - static_cast<std::int64_t>(size - 1 - i);
    if (at >= 0) ring[slot_of<size>(at)] += counts[i];
  }
}

// Makes a ring that ends with `last` end with `now`, which is not earlier.
template <std::size_t size>
void turn_ring(Ring<size>& ring, std::int64_t last, std::int64_t now) {
  const Ring<size> counts = read_ring(ring, last, now);
  for (std::size_t i = 0; i < size; ++i) {
    const std::int64_t at = now - static_cast<std::int64_t>(size - 1 - i);
    if (at >= 0) ring[slot_of<size>(at)] = counts[i];
  }
}

}  // namespace

void GroupArrivals::note(Timestamp wall) {
  // A group whose arrivals were merged into another starts from zero.
  first_wall = total++ == 0 ? wall : std::min(first_wall, wall);
  count_in(by_minute, last_wall.ms() / kMinuteMs, wall.ms() / kMinuteMs);
  count_in(by_hour, last_wall.ms() / kHourMs, wall.ms() / kHourMs);
  count_in(by_day, last_wall.ms() / kDayMs, wall.ms() / kDayMs);
  last_wall = std::max(last_wall, wall);
}

std::array<std::uint32_t, kGroupHours> GroupArrivals::lately(Timestamp wall) const {
  return read_ring(by_hour, last_wall.ms() / kHourMs, wall.ms() / kHourMs);
}

std::array<std::uint32_t, kGroupDays> GroupArrivals::daily(Timestamp wall) const {
  return read_ring(by_day, last_wall.ms() / kDayMs, wall.ms() / kDayMs);
}

std::array<std::uint32_t, kGroupMinutes> GroupArrivals::minutely(Timestamp wall) const {
  return read_ring(by_minute, last_wall.ms() / kMinuteMs, wall.ms() / kMinuteMs);
}

bool GroupArrivals::is_escalating(Timestamp wall) const {
  const auto counts = minutely(wall);
  const auto recent_begin = counts.end() - kEscalationMinutes;
  const auto before = std::accumulate(counts.begin(), recent_begin, std::uint64_t{0});
  const auto recent = std::accumulate(recent_begin, counts.end(), std::uint64_t{0});
  // At least 0.5 a minute in five minutes, and recent / 5 > 5 * before / 60.
  return recent * 2 >= kEscalationMinutes && recent * 12 > before * 5;
}

void GroupArrivals::absorb(const GroupArrivals& other) {
  if (other.total == 0) return;
  const Timestamp last = std::max(last_wall, other.last_wall);
  turn_ring(by_minute, last_wall.ms() / kMinuteMs, last.ms() / kMinuteMs);
  turn_ring(by_hour, last_wall.ms() / kHourMs, last.ms() / kHourMs);
  turn_ring(by_day, last_wall.ms() / kDayMs, last.ms() / kDayMs);
  add_ring(by_minute, last.ms() / kMinuteMs, other.by_minute, other.last_wall.ms() / kMinuteMs);
  add_ring(by_hour, last.ms() / kHourMs, other.by_hour, other.last_wall.ms() / kHourMs);
  add_ring(by_day, last.ms() / kDayMs, other.by_day, other.last_wall.ms() / kDayMs);
  first_wall = total == 0 ? other.first_wall : std::min(first_wall, other.first_wall);
  last_wall = last;
  total += other.total;
  failed_again += other.failed_again;
  for (const NameIndex name : other.sources) note_name(sources, name);
  for (const NameIndex name : other.consumers) note_name(consumers, name);
}

GroupStatus FailureGroup::status_at(Timestamp wall) const {
  if (status != GroupStatus::ignored) return status;
  const bool by_time = ignored_until != Timestamp() && wall >= ignored_until;
  const bool by_count = ignored_to_total != 0 && arrivals.total >= ignored_to_total;
  return by_time || by_count ? GroupStatus::known : GroupStatus::ignored;
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
