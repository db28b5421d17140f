#include "core/queue/group_names.h"

#include <cassert>
#include <functional>

namespace redrive::queue {
namespace {

std::uint32_t hash_of(std::string_view name) {
  const std::uint64_t hash = std::hash<std::string_view>{}(name);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

std::uint32_t GroupNames::number_for(std::string_view name) {
  if (name.empty()) return 0;
  const std::uint32_t hash = hash_of(name);
  const std::uint32_t known =
      index_.find(hash, [&](std::uint32_t group) { return names_[group] == name; });
  return known != 0 ? known : add(name, hash);
}

std::uint32_t GroupNames::add(std::string_view name, std::uint32_t hash) {
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
  index_.add(group, hash);
  return group;
}

void GroupNames::drop(std::uint32_t group) {
  assert(group != 0);
  index_.erase(group, hashes_[group]);
  free_.push_back(group);
}

}  // namespace redrive::queue
