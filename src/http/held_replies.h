#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "http/server.h"

namespace redrive::http {

class Connection;

// The replies of one thread that wait for a mark, in the order in which they were made.
//
// Marks are expected to grow in that order, as journal sequences do; one that does not only waits
// for those before it. first_mark() may be read by any thread: together with the server's released
// mark it forms a handshake in which each side writes its own and then reads the other's, both
// sequentially consistent, so that a reply and its release cannot miss each other.
class HeldReplies {
 public:
  static constexpr Mark kNone = UINT64_MAX;

  void push(Mark mark, Connection& connection) {
    if (empty()) first_mark_.store(mark);
    entries_.push_back({mark, &connection});
  }

  // The next reply for a mark up to `reached`, or nullptr.
  Connection* pop(Mark reached) {
    if (empty() || entries_[begin_].mark > reached) return nullptr;
    Connection* const connection = entries_[begin_++].connection;
    if (empty()) {
      entries_.clear();
      begin_ = 0;
    } else if (begin_ >= kCompactAt && begin_ * 2 > entries_.size()) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
    }
    first_mark_.store(empty() ? kNone : entries_[begin_].mark);
    return connection;
  }

  bool empty() const { return begin_ == entries_.size(); }
  Mark first_mark() const { return first_mark_.load(); }

 private:
  struct Entry {
    Mark mark;
    Connection* connection;
  };
  static constexpr std::size_t kCompactAt = 1024;

  std::vector<Entry> entries_;
  std::size_t begin_ = 0;
  std::atomic<Mark> first_mark_ = kNone;
};

}  // namespace redrive::http
