#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/queue/hash_index.h"

namespace redrive::queue {

// The MessageGroupIds of one mailbox, numbered from 1; a number is used again when its group has
// gone. 0 is for messages that have none.
class GroupNames {
 public:
  // The group's number, a new one if it has none.
  std::uint32_t number_for(std::string_view name);
  void drop(std::uint32_t group);

  std::string_view operator[](std::uint32_t group) const { return names_[group]; }
  std::size_t size() const { return index_.size(); }

 private:
  std::uint32_t add(std::string_view name, std::uint32_t hash);

  HashIndex index_;
  std::vector<std::string> names_ = {""};
  std::vector<std::uint32_t> hashes_ = {0};
  std::vector<std::uint32_t> free_;
};

}  // namespace redrive::queue
