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
// Stored in order of arrival, so that a checkpoint reads memory sequentially: looking up each one
// took most of a checkpoint's time.
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
  // Removes up to `max` expired entries; returns how many.
  std::size_t advance(Timestamp now, std::size_t max = SIZE_MAX);
  // Empties the table; numbering continues.
  DedupTable take();
  // Restores the order after entries were inserted in any order (loading a checkpoint).
  void sort();

  // Entries in order of arrival, with numbers that are never reused, so that a checkpoint can walk
  // them in slices. An entry whose id was used again is still included, before the newer one.
  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return first_ + order_.size(); }
  const Taken& at(std::uint64_t position) const { return order_[position - first_]; }
  const Entry* entry(const DedupId& id) const;
  std::size_t size() const { return index_.size(); }

 private:
  // Entries are numbered by position, modulo this: there are never that many.
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
