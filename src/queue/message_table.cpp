#include "queue/message_table.h"

#include <bit>
#include <cstring>

namespace redrive::queue {
namespace {

constexpr std::size_t kIndexSizeAtFirst = 1024;

}  // namespace

std::uint32_t lineage_mark_of(const Uuid& lineage) {
  std::uint32_t mark = 0;
  std::memcpy(&mark, lineage.bytes.data(), sizeof(mark));
  return mark == 0 ? 1 : mark;
}

MessageTable::MessageTable() : index_(kIndexSizeAtFirst, kNoSlot) {
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(kIndexSizeAtFirst));
}

Slot MessageTable::insert(MessageKey key) {
  assert(find(key) == kNoSlot);
  Slot slot = free_;
  if (slot != kNoSlot) {
    free_ = (*this)[slot].next;
  } else {
    slot = used_++;
    if ((slot >> kChunkBits) == chunks_.size()) {
      chunks_.push_back(std::make_unique<Message[]>(std::size_t{1} << kChunkBits));
    }
  }
  Message& message = (*this)[slot];
  message = Message{};
  message.key = key;
  if ((size_ + 1) * 4 > index_.size() * 3) grow_index();
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

Slot MessageTable::find(MessageKey key) const {
  const std::size_t mask = index_.size() - 1;
  for (std::size_t at = home(key);; at = (at + 1) & mask) {
    const Slot slot = index_[at];
    if (slot == kNoSlot || (*this)[slot].key == key) return slot;
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

void MessageTable::grow_index() {
  std::vector<Slot> old = std::move(index_);
  index_.assign(old.size() * 2, kNoSlot);
  --shift_;
  for (const Slot slot : old) {
    if (slot != kNoSlot) index_insert(slot);
  }
}

void MessageTable::index_insert(Slot slot) {
  const std::size_t mask = index_.size() - 1;
  std::size_t at = home((*this)[slot].key);
  while (index_[at] != kNoSlot) at = (at + 1) & mask;
  index_[at] = slot;
}

void MessageTable::index_erase(Slot slot) {
  const std::size_t mask = index_.size() - 1;
  std::size_t hole = home((*this)[slot].key);
  while (index_[hole] != slot) hole = (hole + 1) & mask;
  // Pull back whatever would no longer be found across the hole.
  for (std::size_t at = (hole + 1) & mask; index_[at] != kNoSlot; at = (at + 1) & mask) {
    const std::size_t wanted = home((*this)[index_[at]].key);
    if (((at - wanted) & mask) >= ((at - hole) & mask)) {
      index_[hole] = index_[at];
      hole = at;
    }
  }
  index_[hole] = kNoSlot;
}

std::size_t MessageTable::memory_bytes() const {
  return chunks_.size() * (sizeof(Message) << kChunkBits) + index_.size() * sizeof(Slot) +
         histories_.size() * sizeof(History);
}

}  // namespace redrive::queue
