#include "core/queue/message_table.h"

#include <algorithm>
#include <cstring>

namespace redrive::queue {
namespace {

constexpr unsigned kIndexBitsAtFirst = 10;

}  // namespace

std::uint32_t lineage_mark_of(const Uuid& lineage) {
  std::uint32_t mark = 0;
  std::memcpy(&mark, lineage.bytes.data(), sizeof(mark));
  return mark == 0 ? 1 : mark;
}

MessageTable::MessageTable() {
  make_index(kIndexBitsAtFirst);
}

Slot MessageTable::insert(MessageKey key) {
  Slot slot = free_;
  if (slot != kNoSlot) {
    free_ = (*this)[slot].next;
  } else {
    slot = used_++;
    if ((slot >> kChunkBits) == chunks_.size()) {
      chunks_.push_back(raw_array<Message>(std::size_t{1} << kChunkBits));
    }
  }
  Message& message = (*this)[slot];
  message = Message{};
  message.key = key;
  if ((size_ + 1) * 4 > index_size() * 3) grow_index();
  index_insert(slot);
  ++size_;
  return slot;
}

void MessageTable::erase(Slot slot) {
  Message& message = (*this)[slot];
  assert(message.key != MessageKey::none);
  index_erase(slot);
  if (message.history != 0) {
    histories_[message.history - 1]->clear();
    free_histories_.push_back(message.history - 1);
  }
  message = Message{};
  message.next = free_;
  free_ = slot;
  --size_;
}

Slot MessageTable::find_behind(std::size_t at, MessageKey key) const {
  for (;;) {
    at = behind(at);
    const Slot slot = index_[at];
    if (slot == kNoSlot || (*this)[slot].key == key) return slot;
  }
}

std::size_t MessageTable::steps_to(MessageKey key) const {
  std::size_t steps = 1;
  for (std::size_t at = home(key);; at = behind(at), ++steps) {
    const Slot slot = index_[at];
    if (slot == kNoSlot || (*this)[slot].key == key) return steps;
  }
}

History& MessageTable::history(Slot slot) {
  Message& message = (*this)[slot];
  if (message.history == 0) {
    if (free_histories_.empty()) {
      histories_.push_back(std::make_unique<History>());
      message.history = static_cast<std::uint32_t>(histories_.size());
    } else {
      message.history = free_histories_.back() + 1;
      free_histories_.pop_back();
    }
  }
  return *histories_[message.history - 1];
}

const History* MessageTable::history_if(Slot slot) const {
  const Message& message = (*this)[slot];
  return message.history == 0 ? nullptr : histories_[message.history - 1].get();
}

void MessageTable::make_index(unsigned bits) {
  index_bits_ = bits;
  index_ = raw_array<Slot>(index_size());
  std::fill_n(index_.get(), index_size(), kNoSlot);
}

void MessageTable::grow_index() {
  const RawArray<Slot> old = std::move(index_);
  const std::size_t old_size = index_size();
  make_index(index_bits_ + 1);
  for (std::size_t i = 0; i < old_size; ++i) {
    if (old[i] != kNoSlot) index_insert(old[i]);
  }
}

void MessageTable::index_insert(Slot slot) {
  const MessageKey key = (*this)[slot].key;
  std::size_t at = home(key);
  for (; index_[at] != kNoSlot; at = behind(at)) assert((*this)[index_[at]].key != key);
  index_[at] = slot;
}

void MessageTable::index_erase(Slot slot) {
  const std::size_t mask = index_size() - 1;
  std::size_t hole = home((*this)[slot].key);
  while (index_[hole] != slot) hole = behind(hole);
  // Move back entries that could not be found across the hole.
  for (std::size_t at = behind(hole); index_[at] != kNoSlot; at = behind(at)) {
    const std::size_t wanted = home((*this)[index_[at]].key);
    if (wanted == at) continue;  // The common case.
    if (((order(at) - order(wanted)) & mask) >= ((order(at) - order(hole)) & mask)) {
      index_[hole] = index_[at];
      hole = at;
    }
  }
  index_[hole] = kNoSlot;
}

std::size_t MessageTable::memory_bytes() const {
  return chunks_.size() * (sizeof(Message) << kChunkBits) + index_size() * sizeof(Slot) +
         histories_.size() * sizeof(History);
}

}  // namespace redrive::queue
