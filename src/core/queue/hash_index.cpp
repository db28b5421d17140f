#include "core/queue/hash_index.h"

#include <cassert>
#include <utility>

namespace redrive::queue {
namespace {

constexpr std::size_t kPlacesMin = 16;

}  // namespace

void HashIndex::add(std::uint32_t number, std::uint32_t hash) {
  assert(number != 0);
  if ((size_ + 1) * 4 > places_.size() * 3) grow();
  place({.number = number, .hash = hash});
  ++size_;
}

void HashIndex::erase(std::uint32_t number, std::uint32_t hash) {
  assert(number != 0 && size_ > 0);
  std::size_t hole = home(hash);
  while (places_[hole].number != number) hole = next(hole);
  // Move back entries that could not be found across the hole.
  const std::size_t mask = places_.size() - 1;
  for (std::size_t at = next(hole); places_[at].number != 0; at = next(at)) {
    if (((at - home(places_[at].hash)) & mask) >= ((at - hole) & mask)) {
      places_[hole] = places_[at];
      hole = at;
    }
  }
  places_[hole] = {};
  --size_;
}

void HashIndex::clear() {
  places_ = {};
  size_ = 0;
}

void HashIndex::place(const Place& one) {
  std::size_t at = home(one.hash);
  while (places_[at].number != 0) at = next(at);
  places_[at] = one;
}

void HashIndex::grow() {
  const std::size_t larger = places_.empty() ? kPlacesMin : 2 * places_.size();
  const std::vector<Place> before = std::exchange(places_, std::vector<Place>(larger));
  for (const Place& one : before) {
    if (one.number != 0) place(one);
  }
}

}  // namespace redrive::queue
