#include "core/queue/age_order.h"

#include <algorithm>
#include <cassert>

namespace redrive::queue {

std::size_t AgeOrder::block_of(const AgeMark& mark) const {
  const auto after = std::ranges::upper_bound(blocks_, mark, {}, &Block::begin);
  return after == blocks_.begin() ? 0 : static_cast<std::size_t>(after - blocks_.begin()) - 1;
}

std::size_t AgeOrder::behind(const Block& block, const AgeMark& mark) const {
  const auto at = std::ranges::upper_bound(
      block.slots, mark, {}, [this](Slot slot) { return age_in(table_, slot); });
  return static_cast<std::size_t>(at - block.slots.begin());
}

std::size_t AgeOrder::at_or_behind(const Block& block, const AgeMark& mark) const {
  const auto at = std::ranges::lower_bound(
      block.slots, mark, {}, [this](Slot slot) { return age_in(table_, slot); });
  return static_cast<std::size_t>(at - block.slots.begin());
}

void AgeOrder::insert(Slot slot) {
  const AgeMark mark = age_in(table_, slot);
  if (blocks_.empty()) blocks_.push_back({mark, {}});
  std::size_t index = block_of(mark);
  std::size_t at = behind(blocks_[index], mark);
  if (blocks_[index].slots.size() == kBlockSlots) {
    split(index, at == kBlockSlots);
    index = block_of(mark);
    at = behind(blocks_[index], mark);
  }
  Block& block = blocks_[index];
  block.begin = std::min(block.begin, mark);
  block.slots.insert(block.slots.begin() + static_cast<std::ptrdiff_t>(at), slot);
}

// Messages that arrive in order, as most do, fill blocks completely: then only the last slot moves
// to the new block.
void AgeOrder::split(std::size_t index, bool at_its_end) {
  std::vector<Slot>& slots = blocks_[index].slots;
  const auto middle = at_its_end ? slots.end() - 1 : slots.begin() + kBlockSlots / 2;
  Block upper{age_in(table_, *middle), {middle, slots.end()}};
  slots.erase(middle, slots.end());
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(upper));
}

void AgeOrder::erase(Slot slot) {
  const AgeMark mark = age_in(table_, slot);
  const std::size_t index = block_of(mark);
  Block& block = blocks_[index];
  const std::size_t at = at_or_behind(block, mark);
  assert(at < block.slots.size() && block.slots[at] == slot);
  block.slots.erase(block.slots.begin() + static_cast<std::ptrdiff_t>(at));
  if (block.slots.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
  } else if (block.slots.size() < kBlockSlots / 4) {
    join_with_next(index);
  }
}

void AgeOrder::join_with_next(std::size_t index) {
  if (index + 1 == blocks_.size()) return;
  Block& next = blocks_[index + 1];
  std::vector<Slot>& slots = blocks_[index].slots;
  if (slots.size() + next.slots.size() > kBlockSlots / 2) return;
  slots.insert(slots.end(), next.slots.begin(), next.slots.end());
  blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
}

Slot AgeOrder::take_any() {
  if (blocks_.empty()) return kNoSlot;
  const Slot slot = blocks_.back().slots.back();
  blocks_.back().slots.pop_back();
  if (blocks_.back().slots.empty()) blocks_.pop_back();
  return slot;
}

void AgeOrder::append_behind(const AgeMark& mark, std::size_t max, std::vector<Slot>& out) const {
  if (blocks_.empty()) return;
  std::size_t index = block_of(mark);
  std::size_t at = behind(blocks_[index], mark);
  for (; index < blocks_.size() && max > 0; ++index, at = 0) {
    const std::vector<Slot>& slots = blocks_[index].slots;
    const std::size_t count = std::min(max, slots.size() - at);
    const auto from = slots.begin() + static_cast<std::ptrdiff_t>(at);
    out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(count));
    max -= count;
  }
}

void AgeOrder::append_before(const AgeMark& mark, std::size_t max, std::vector<Slot>& out) const {
  if (blocks_.empty()) return;
  std::size_t index = block_of(mark);
  std::size_t end = at_or_behind(blocks_[index], mark);
  while (true) {
    const std::vector<Slot>& slots = blocks_[index].slots;
    for (; end > 0 && max > 0; --end, --max) out.push_back(slots[end - 1]);
    if (index == 0 || max == 0) return;
    end = blocks_[--index].slots.size();
  }
}

}  // namespace redrive::queue
