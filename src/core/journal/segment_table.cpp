#include "core/journal/segment_table.h"

#include <cassert>
#include <utility>

namespace redrive::journal {

Segment& SegmentTable::add(Segment segment) {
  if (slots_.empty()) first_ = segment.number;
  assert(segment.number >= first_ + slots_.size());
  slots_.resize(segment.number - first_);
  slots_.emplace_back(std::move(segment));
  ++count_;
  return *slots_.back();
}

Segment SegmentTable::remove_last() {
  Segment segment = std::move(*slots_.back());
  --count_;
  while (!slots_.empty() && (!slots_.back() || slots_.back()->number == segment.number)) {
    slots_.pop_back();
  }
  return segment;
}

bool SegmentTable::has(std::uint32_t number) const {
  return number >= first_ && number - first_ < slots_.size() && slots_[number - first_];
}

Segment& SegmentTable::at(std::uint32_t number) {
  assert(has(number));  // A segment in use is never recycled.
  return *slots_[number - first_];
}

void SegmentTable::hold(std::uint32_t number, std::uint64_t bytes) {
  at(number).held += bytes;
}

void SegmentTable::let_go(std::uint32_t number, std::uint64_t bytes, Sequence free_after) {
  Segment& segment = at(number);
  assert(segment.held >= bytes);
  segment.held -= bytes;
  segment.free_after = free_after;
}

void SegmentTable::pin(std::uint32_t number) {
  ++at(number).pins;
}

void SegmentTable::unpin(std::uint32_t number) {
  Segment& segment = at(number);
  assert(segment.pins > 0);
  --segment.pins;
}

std::optional<Segment> SegmentTable::take_free_below(std::uint32_t number, Sequence synced) {
  for (auto& slot : slots_) {
    if (!slot) continue;
    if (slot->number >= number) break;
    if (slot->held > 0 || slot->pins > 0 || slot->free_after > synced) continue;
    auto taken = std::exchange(slot, std::nullopt);
    --count_;
    while (!slots_.empty() && !slots_.front()) {
      slots_.pop_front();
      ++first_;
    }
    return taken;
  }
  return std::nullopt;
}

std::vector<Journal::SegmentUse> SegmentTable::usage(std::uint32_t checkpoint,
                                                     std::uint32_t active) const {
  std::vector<Journal::SegmentUse> out;
  out.reserve(count_);
  for (const auto& slot : slots_) {
    if (!slot) continue;
    out.push_back({.segment = slot->number,
                   .used_bytes = slot->used,
                   .held_bytes = slot->held,
                   .before_checkpoint = slot->number < checkpoint,
                   .active = slot->number == active});
  }
  return out;
}

}  // namespace redrive::journal
