#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/prefetch.h"
#include "base/raw_array.h"
#include "base/time.h"
#include "core/queue/history.h"
#include "core/queue/ids.h"

namespace redrive::queue {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

enum class Phase : std::uint8_t { visible, in_flight, delayed };

// A message in memory: everything except its bytes. 80 bytes, and the budget is 96 with the key
// index, so a new field needs a reason (tests/core/queue/message_table_test.cpp checks it).
struct Message {
  MessageKey key = MessageKey::none;
  BodyRef body;
  std::uint32_t mailbox = 0;
  Timestamp visible_at;             // While delayed or in flight.
  Timestamp sent_at;                // Engine time; retention runs from here.
  std::uint32_t group = 0;          // Index in the mailbox; 0: none.
  std::uint32_t receive_count = 0;  // In the present life, carried along by dead-lettering.
  Slot prev = kNoSlot;              // In the list of its group.
  Slot next = kNoSlot;
  std::uint32_t timer = 0;  // Position in the mailbox's timer heap, while not visible.
  Slot older = kNoSlot;     // In the mailbox's list by age.
  Slot younger = kNoSlot;
  std::uint32_t history = 0;  // Index + 1 in the table's histories; 0: none.
  Phase phase = Phase::visible;
  bool returned = false;            // In its group's list of returned messages.
  bool odd_age = false;             // Entered the mailbox out of age order: not in that list.
  bool visibility_touched = false;  // ChangeMessageVisibility since the last receive.
  // The first bytes of its lineage id, for lookups; 0: unknown, for messages from an older journal.
  std::uint32_t lineage_mark = 0;
};
static_assert(sizeof(Message) == 80);

std::uint32_t lineage_mark_of(const Uuid& lineage);

// Every live message of the server, by slot and by key. Slots are stable while a message lives.
class MessageTable {
 public:
  MessageTable();

  Slot insert(MessageKey key);
  void erase(Slot slot);
  // kNoSlot when there is none.
  Slot find(MessageKey key) const {
    const std::size_t at = home(key);
    const Slot slot = index_[at];
    return slot == kNoSlot || (*this)[slot].key == key ? slot : find_behind(at, key);
  }
  // Prefetches the index entries of several keys that are about to be looked up.
  template <class Keys>
  void prefetch_messages(const Keys& keys) const {
    for (const MessageKey key : keys) prefetch(&index_[home(key)]);
    for (const MessageKey key : keys) {
      const Slot slot = index_[home(key)];
      if (slot != kNoSlot) prefetch(&(*this)[slot], sizeof(Message));
    }
  }
  // How many index entries a lookup reads.
  std::size_t steps_to(MessageKey key) const;

  Message& operator[](Slot slot) { return chunks_[slot >> kChunkBits][slot & kChunkMask]; }
  // Set when the bytes of a message with an unknown mark are read during a lookup: not a fact.
  void learn_mark(Slot slot, std::uint32_t mark) { (*this)[slot].lineage_mark = mark; }
  const Message& operator[](Slot slot) const {
    return chunks_[slot >> kChunkBits][slot & kChunkMask];
  }

  // The history of a message, made on first use.
  History& history(Slot slot);
  const History* history_if(Slot slot) const;

  std::size_t size() const { return size_; }
  // Slots ever used: the range to walk when visiting all messages. Dead slots have key none.
  Slot end() const { return used_; }
  std::size_t memory_bytes() const;

 private:
  static constexpr unsigned kChunkBits = 12;
  static constexpr Slot kChunkMask = (1u << kChunkBits) - 1;
  static constexpr unsigned kLineBits = 4;  // log2 of the slots per cache line.
  static constexpr std::size_t kLineMask = (1u << kLineBits) - 1;

  // Neighbouring keys are looked up together, so sixteen of them share a line of the index, chosen
  // by a hash of their common bits. The position within the line depends on the hash too, so that
  // keys with a common factor do not collide.
  std::size_t home(MessageKey key) const {
    const auto at = static_cast<std::size_t>(((number(key) >> kLineBits) * 0x9e3779b97f4a7c15ull) >>
                                             (64 - index_bits_));
    return (at & ~kLineMask) | ((at + number(key)) & kLineMask);
  }
  // On a collision, probing continues at the same position of the next line, so that two groups of
  // sixteen with the same line do not scan each other. After the last line comes the next position
  // of the first.
  std::size_t behind(std::size_t at) const {
    at += kLineMask + 1;
    return at < index_size() ? at : (at + 1) & kLineMask;
  }
  // How many steps behind the first place of the first line that is.
  std::size_t order(std::size_t at) const {
    return (at & kLineMask) << (index_bits_ - kLineBits) | at >> kLineBits;
  }
  std::size_t index_size() const { return std::size_t{1} << index_bits_; }
  Slot find_behind(std::size_t at, MessageKey key) const;
  void make_index(unsigned bits);
  void grow_index();
  void index_insert(Slot slot);
  void index_erase(Slot slot);

  std::vector<RawArray<Message>> chunks_;
  Slot used_ = 0;
  Slot free_ = kNoSlot;  // Linked through `next`.
  std::size_t size_ = 0;
  RawArray<Slot> index_;  // Open addressing, linear probing; at most 3/4 full.
  unsigned index_bits_ = 0;
  std::vector<std::unique_ptr<History>> histories_;
  std::vector<std::uint32_t> free_histories_;
};

}  // namespace redrive::queue
