#include "queue/dedup_table.h"

#include <algorithm>
#include <string>

#include "base/digest.h"

namespace redrive::queue {

DedupId dedup_id(std::string_view group, std::string_view id) {
  constexpr std::array<std::uint8_t, 16> kFirst = {
      'r', 'e', 'd', 'r', 'i', 'v', 'e', ' ', 'd', 'e', 'd', 'u', 'p', ' ', '0', '1'};
  constexpr std::array<std::uint8_t, 16> kSecond = {
      'r', 'e', 'd', 'r', 'i', 'v', 'e', ' ', 'd', 'e', 'd', 'u', 'p', ' ', '0', '2'};
  std::string text;
  text.reserve(group.size() + 1 + id.size());
  text.append(group).append(1, '\0').append(id);
  return {siphash(kFirst, text), siphash(kSecond, text)};
}

const DedupTable::Entry* DedupTable::find(const DedupId& id, Timestamp now) const {
  const Entry* found = entry(id);
  return found != nullptr && found->expires > now ? found : nullptr;
}

const DedupTable::Entry* DedupTable::entry(const DedupId& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

void DedupTable::insert(const DedupId& id, const Entry& entry) {
  entries_.insert_or_assign(id, entry);
  order_.emplace_back(entry.expires, id);
}

void DedupTable::advance(Timestamp now) {
  while (!order_.empty() && order_.front().first <= now) {
    const auto found = entries_.find(order_.front().second);
    // An id may have been taken again since; then the younger entry stays.
    if (found != entries_.end() && found->second.expires <= now) entries_.erase(found);
    order_.pop_front();
    ++first_;
  }
}

void DedupTable::sort() {
  std::ranges::stable_sort(order_, {}, [](const auto& entry) { return entry.first; });
}

void DedupTable::clear() {
  entries_.clear();
  first_ += order_.size();
  order_.clear();
}

}  // namespace redrive::queue
