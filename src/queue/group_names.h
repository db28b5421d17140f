#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::queue {

// The MessageGroupIds of one mailbox, numbered from 1; a number is used again when its group has
// gone. 0 is for messages that have none.
//
// Groups come and go as fast as messages do, so that costs no memory taken and given back, and one
// that goes touches only the index: eight bytes a place, at most three quarters of them taken.
class GroupNames {
 public:
  // The group's number, a new one if it has none.
  std::uint32_t number_for(std::string_view name);
  void drop(std::uint32_t group);

  std::string_view operator[](std::uint32_t group) const { return names_[group]; }
  std::size_t size() const { return size_; }

 private:
  struct Place {
    std::uint32_t group = 0;  // 0: nobody's.
    std::uint32_t hash = 0;
  };
  std::size_t home(std::uint32_t hash) const { return hash & (places_.size() - 1); }
  std::size_t next(std::size_t at) const { return (at + 1) & (places_.size() - 1); }
  std::uint32_t add(std::string_view name, std::uint32_t hash);
  void place(const Place& one);
  void grow();

  std::vector<Place> places_;
  std::size_t size_ = 0;
  std::vector<std::string> names_ = {""};
  std::vector<std::uint32_t> hashes_ = {0};
  std::vector<std::uint32_t> free_;
};

}  // namespace redrive::queue
