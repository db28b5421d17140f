#pragma once

#include <compare>
#include <cstddef>
#include <vector>

#include "core/queue/message_table.h"

namespace redrive::queue {

// A place in the order by age; messages of equal age are in the order of their keys.
struct AgeMark {
  Timestamp sent_at;
  MessageKey key = MessageKey::none;

  friend auto operator<=>(const AgeMark&, const AgeMark&) = default;
};

inline AgeMark age_in(const MessageTable& table, Slot slot) {
  return {table[slot].sent_at, table[slot].key};
}

// Messages ordered by age, whatever the order of arrival: sorted blocks of slots, indexed by a
// sorted list of their first entries. Costs four to eight bytes per message. Reading the oldest is
// O(1); finding any place touches about ten messages.
class AgeOrder {
 public:
  explicit AgeOrder(const MessageTable& table) : table_(table) {}

  bool empty() const { return blocks_.empty(); }
  Slot oldest() const { return blocks_.empty() ? kNoSlot : blocks_.front().slots.front(); }

  void insert(Slot slot);
  void erase(Slot slot);  // The slot must be present.
  Slot take_any();        // kNoSlot when it is empty.
  // Appends the first `max` behind that place, oldest first.
  void append_behind(const AgeMark& mark, std::size_t max, std::vector<Slot>& out) const;
  // Appends the first `max` before that place, youngest first.
  void append_before(const AgeMark& mark, std::size_t max, std::vector<Slot>& out) const;

  template <class Visit>
  void for_each(Visit visit) const {
    for (const Block& block : blocks_) {
      for (const Slot slot : block.slots) visit(slot);
    }
  }

 private:
  static constexpr std::size_t kBlockSlots = 512;

  // Never empty. All entries are at or after `begin`, and before the next block's `begin`.
  struct Block {
    AgeMark begin;
    std::vector<Slot> slots;
  };
  using Blocks = std::vector<Block>;

  // The index of the block that contains a place.
  std::size_t block_of(const AgeMark& mark) const;
  // The first entry of the block at or after that place.
  std::size_t behind(const Block& block, const AgeMark& mark) const;
  std::size_t at_or_behind(const Block& block, const AgeMark& mark) const;
  void split(std::size_t index, bool at_its_end);
  void join_with_next(std::size_t index);

  const MessageTable& table_;
  Blocks blocks_;
};

}  // namespace redrive::queue
