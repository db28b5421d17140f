#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "base/time.h"

namespace redrive::queue {

// 128 bits that stand for a deduplication id within its scope.
using DedupId = std::array<std::uint64_t, 2>;

// `group` is empty where ids are unique over the whole queue.
DedupId dedup_id(std::string_view group, std::string_view id);

// The ids a FIFO queue has accepted in the last five minutes, whether or not their messages still
// exist.
class DedupTable {
 public:
  struct Entry {
    Timestamp expires;
    Uuid message_id;
    std::uint64_t sequence;
  };

  // The entry that makes a message with this id a duplicate at `now`.
  const Entry* find(const DedupId& id, Timestamp now) const;
  void insert(const DedupId& id, const Entry& entry);
  void advance(Timestamp now);
  void clear();
  // Puts the order right after entries were inserted in any order (loading a checkpoint).
  void sort();

  // Entries in order of arrival, numbered for ever, so that a checkpoint can walk them in slices.
  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return first_ + order_.size(); }
  const DedupId& id_at(std::uint64_t position) const { return order_[position - first_].second; }
  const Entry* entry(const DedupId& id) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const DedupId& id) const { return id[0]; }
  };
  std::unordered_map<DedupId, Entry, Hash> entries_;
  std::deque<std::pair<Timestamp, DedupId>> order_;
  std::uint64_t first_ = 0;
};

}  // namespace redrive::queue
