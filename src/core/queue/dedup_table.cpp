#include "core/queue/dedup_table.h"

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
  const std::uint32_t number = number_with(id);
  return number == 0 ? nullptr : &numbered(number).entry;
}

std::uint32_t DedupTable::number_with(const DedupId& id) const {
  return index_.find(hash_of(id), [&](std::uint32_t number) { return numbered(number).id == id; });
}

void DedupTable::insert(const DedupId& id, const Entry& entry) {
  order_.push_back({id, entry});
  point_to(last() - 1);
}

// An id may have been used again: then the newer entry counts.
void DedupTable::point_to(std::uint64_t position) {
  const DedupId& id = at(position).id;
  if (const std::uint32_t older = number_with(id)) index_.erase(older, hash_of(id));
  index_.add(number_of(position), hash_of(id));
}

std::size_t DedupTable::advance(Timestamp now, std::size_t max) {
  std::size_t forgotten = 0;
  for (; forgotten < max && !order_.empty() && order_.front().entry.expires <= now; ++forgotten) {
    const DedupId& id = order_.front().id;
    const std::uint32_t number = number_of(first_);
    if (number_with(id) == number) index_.erase(number, hash_of(id));
    order_.pop_front();
    ++first_;
  }
  return forgotten;
}

void DedupTable::sort() {
  std::ranges::stable_sort(order_, {}, [](const Taken& taken) { return taken.entry.expires; });
  index_.clear();
  for (std::uint64_t position = first(); position < last(); ++position) point_to(position);
}

DedupTable DedupTable::take() {
  DedupTable taken = std::move(*this);
  *this = {};
  first_ = taken.last();
  return taken;
}

}  // namespace redrive::queue
