#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redrive::queue {

// Numbers, found by the hash of what they stand for.
//
// For entries that come and go as fast as messages: no allocation per entry, and removing one
// touches only the index. Eight bytes per place, at most three quarters full.
class HashIndex {
 public:
  // The number for which `is_it` says so, among those with this hash; 0: none.
  template <class IsIt>
  std::uint32_t find(std::uint32_t hash, IsIt is_it) const {
    if (places_.empty()) return 0;
    for (std::size_t at = home(hash); places_[at].number != 0; at = next(at)) {
      if (places_[at].hash == hash && is_it(places_[at].number)) return places_[at].number;
    }
    return 0;
  }
  // Not 0, and not here yet.
  void add(std::uint32_t number, std::uint32_t hash);
  // One that is here, added with that hash.
  void erase(std::uint32_t number, std::uint32_t hash);
  void clear();

  std::size_t size() const { return size_; }

 private:
  struct Place {
    std::uint32_t number = 0;  // 0: free.
    std::uint32_t hash = 0;
  };
  std::size_t home(std::uint32_t hash) const { return hash & (places_.size() - 1); }
  std::size_t next(std::size_t at) const { return (at + 1) & (places_.size() - 1); }
  void place(const Place& one);
  void grow();

  std::vector<Place> places_;
  std::size_t size_ = 0;
};

}  // namespace redrive::queue
