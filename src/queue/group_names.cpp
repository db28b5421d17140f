#include "queue/group_names.h"

#include <cassert>
#include <functional>
#include <utility>

namespace redrive::queue {
namespace {

constexpr std::size_t kPlacesMin = 16;

std::uint32_t hash_of(std::string_view name) {
  const std::uint64_t hash = std::hash<std::string_view>{}(name);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

std::uint32_t GroupNames::number_for(std::string_view name) {
  if (name.empty()) return 0;
  const std::uint32_t hash = hash_of(name);
  if (places_.empty()) return add(name, hash);
  for (std::size_t at = home(hash); places_[at].group != 0; at = next(at)) {
    if (places_[at].hash == hash && names_[places_[at].group] == name) return places_[at].group;
  }
  return add(name, hash);
}

std::uint32_t GroupNames::add(std::string_view name, std::uint32_t hash) {
  if ((size_ + 1) * 4 > places_.size() * 3) grow();
  std::uint32_t group;
  if (free_.empty()) {
    group = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(name);
    hashes_.push_back(hash);
  } else {
    group = free_.back();
    free_.pop_back();
    names_[group] = name;
    hashes_[group] = hash;
  }
  place({.group = group, .hash = hash});
  ++size_;
  return group;
}

void GroupNames::drop(std::uint32_t group) {
  assert(group != 0);
  std::size_t hole = home(hashes_[group]);
  while (places_[hole].group != group) hole = next(hole);
  // Pull back whatever would no longer be found across the hole.
  const std::size_t mask = places_.size() - 1;
  for (std::size_t at = next(hole); places_[at].group != 0; at = next(at)) {
    if (((at - home(places_[at].hash)) & mask) >= ((at - hole) & mask)) {
      places_[hole] = places_[at];
      hole = at;
    }
  }
  places_[hole] = {};
  --size_;
  free_.push_back(group);
}

void GroupNames::place(const Place& one) {
  std::size_t at = home(one.hash);
  while (places_[at].group != 0) at = next(at);
  places_[at] = one;
}

void GroupNames::grow() {
  const std::size_t larger = places_.empty() ? kPlacesMin : 2 * places_.size();
  const std::vector<Place> before = std::exchange(places_, std::vector<Place>(larger));
  for (const Place& one : before) {
    if (one.group != 0) place(one);
  }
}

}  // namespace redrive::queue
