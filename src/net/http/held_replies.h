#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "net/http/server.h"

namespace redrive::http {

class Connection;

// One thread's replies that wait for a sync point, in the order in which they were made.
//
// Sync points are expected to grow in that order, as journal sequences do; a smaller one is merely
// released together with the replies before it. first_sync_point() may be read by any thread: the
// loop stores it and then reads the server's released sync point, while release() stores that one
// and then reads this one, both sequentially consistent. So a reply and its release cannot miss
// each other.
class HeldReplies {
 public:
  static constexpr SyncPoint kNone = UINT64_MAX;

  void push(SyncPoint point, Connection& connection) {
    if (empty()) first_sync_point_.store(point);
    entries_.push_back({point, &connection});
  }

  // The next reply whose sync point is at most `reached`, or nullptr.
  Connection* pop(SyncPoint reached) {
    if (empty() || entries_[begin_].point > reached) return nullptr;
    Connection* const connection = entries_[begin_++].connection;
    if (empty()) {
      entries_.clear();
      begin_ = 0;
    } else if (begin_ >= kCompactAt && begin_ * 2 > entries_.size()) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
    }
    first_sync_point_.store(empty() ? kNone : entries_[begin_].point);
    return connection;
  }

  bool empty() const { return begin_ == entries_.size(); }
  SyncPoint first_sync_point() const { return first_sync_point_.load(); }

 private:
  struct Entry {
    SyncPoint point;
    Connection* connection;
  };
  static constexpr std::size_t kCompactAt = 1024;

  std::vector<Entry> entries_;
  std::size_t begin_ = 0;
  std::atomic<SyncPoint> first_sync_point_ = kNone;
};

}  // namespace redrive::http
