#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dead_letters/triage/message_row.h"

namespace redrive::triage {

// A uniform random sample of the rows of many messages (reservoir sampling). After kWindow messages
// newer ones are favoured: the sample then represents about the last kWindow.
//
// The selection depends only on the number of messages, so equal input gives equal samples.
class RowSample {
 public:
  static constexpr std::size_t kRowsMax = 256;
  // Over all rows: with longer rows there are fewer.
  static constexpr std::size_t kEntriesMax = 8192;
  static constexpr std::uint64_t kWindow = 16'384;

  // Counts a message. Returns true if its row must be passed to put() next.
  bool wants_next();
  void put(Row row);
  // A sample of both together: the denser one is thinned out.
  void merge(const RowSample& other);

  std::uint64_t seen() const { return seen_; }
  std::size_t capacity() const { return capacity_; }
  const std::vector<Row>& rows() const { return rows_; }

  // For the codec. Returns false for impossible values.
  bool restore(std::uint64_t seen, std::size_t capacity, std::vector<Row> rows);

  std::size_t heap_bytes() const;

  friend bool operator==(const RowSample& a, const RowSample& b) {
    return a.seen_ == b.seen_ && a.capacity_ == b.capacity_ && a.rows_ == b.rows_;
  }

 private:
  std::uint64_t random(std::uint64_t salt) const;
  double density() const;
  void shrink();

  std::vector<Row> rows_;
  std::uint64_t seen_ = 0;
  std::size_t capacity_ = kRowsMax;
  std::size_t entries_ = 0;
  std::size_t next_ = 0;  // Index for the next put().
};

}  // namespace redrive::triage
