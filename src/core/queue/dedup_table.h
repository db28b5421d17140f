#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "core/queue/hash_index.h"

namespace redrive::queue {

// 128 bits that stand for a deduplication id within its scope.
using DedupId = std::array<std::uint64_t, 2>;

// `group` is empty where ids are unique over the whole queue.
DedupId dedup_id(std::string_view group, std::string_view id);

// The ids a FIFO queue has accepted in the last five minutes, whether or not their messages still
// exist.
//
// They lie in order of arrival, so that a checkpoint, which tells of each of them, reads memory
// from front to back: to look each one up took most of a checkpoint's time.
class DedupTable {
 public:
  struct Entry {
    Timestamp expires;
    Uuid message_id;
    std::uint64_t sequence;
  };
  struct Taken {
    DedupId id;
    Entry entry;
  };

  // The entry that makes a message with this id a duplicate at `now`.
  const Entry* find(const DedupId& id, Timestamp now) const;
  void insert(const DedupId& id, const Entry& entry);
  // Forgets what has expired by now, at most so many; how many there were.
  std::size_t advance(Timestamp now, std::size_t max = SIZE_MAX);
  // Leaves the table empty; numbers go on.
  DedupTable take();
  // Puts the order right after entries were inserted in any order (loading a checkpoint).
  void sort();

  // Entries in order of arrival, numbered for ever, so that a checkpoint can walk them in slices.
  // One whose id was taken again since is still among them, ahead of the younger one.
  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return first_ + order_.size(); }
  const Taken& at(std::uint64_t position) const { return order_[position - first_]; }
  const Entry* entry(const DedupId& id) const;
  std::size_t size() const { return index_.size(); }

 private:
  // Entries are numbered by their positions, in turn: never are so many there.
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << 31;
  static std::uint32_t number_of(std::uint64_t position) {
    return static_cast<std::uint32_t>(position % kNumbers) + 1;
  }
  static std::uint32_t hash_of(const DedupId& id) { return static_cast<std::uint32_t>(id[0]); }
  const Taken& numbered(std::uint32_t number) const {
    return order_[(number - number_of(first_)) % kNumbers];
  }
  std::uint32_t number_with(const DedupId& id) const;
  void point_to(std::uint64_t position);

  std::deque<Taken> order_;
  std::uint64_t first_ = 0;
  HashIndex index_;  // The youngest entry of each id.
};

}  // namespace redrive::queue
