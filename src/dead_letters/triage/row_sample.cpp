#include "dead_letters/triage/row_sample.h"

#include <algorithm>
#include <cmath>

namespace redrive::triage {
namespace {

// splitmix64
std::uint64_t scramble(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

// Evenly spread over the rows, which are in random or arrival order.
void take_spread(const std::vector<Row>& from, std::size_t count, std::vector<Row>& into) {
  for (std::size_t i = 0; i < count; ++i) into.push_back(from[i * from.size() / count]);
}

std::size_t entries_of(const std::vector<Row>& rows) {
  std::size_t entries = 0;
  for (const Row& row : rows) entries += row.entries.size();
  return entries;
}

}  // namespace

std::uint64_t RowSample::random(std::uint64_t salt) const {
  return scramble(seen_ * 2 + salt);
}

bool RowSample::wants_next() {
  ++seen_;
  if (rows_.size() < capacity_) {
    next_ = rows_.size();
    return true;
  }
  const std::uint64_t place = random(0) % std::min(seen_, kWindow);
  next_ = static_cast<std::size_t>(place);
  return place < rows_.size();
}

void RowSample::put(Row row) {
  entries_ += row.entries.size();
  if (next_ < rows_.size()) {
    entries_ -= rows_[next_].entries.size();
    rows_[next_] = std::move(row);
  } else {
    rows_.push_back(std::move(row));
  }
  shrink();
}

// Drops random rows, so that the rest is still a uniform sample.
void RowSample::shrink() {
  for (std::uint64_t salt = 1; entries_ > kEntriesMax && rows_.size() > 1; salt += 2) {
    Row& gone = rows_[scramble(seen_ + salt * 0x100000001) % rows_.size()];
    entries_ -= gone.entries.size();
    if (&gone != &rows_.back()) gone = std::move(rows_.back());
    rows_.pop_back();
    capacity_ = rows_.size();
  }
}

double RowSample::density() const {
  if (rows_.empty()) return 1;
  return static_cast<double>(rows_.size()) / static_cast<double>(std::min(seen_, kWindow));
}

void RowSample::merge(const RowSample& other) {
  const auto share = [](const RowSample& sample, double density) {
    return density / sample.density() * static_cast<double>(sample.rows_.size());
  };
  const std::size_t capacity = std::min(capacity_, other.capacity_);
  double density = std::min(this->density(), other.density());
  const double both = share(*this, density) + share(other, density);
  if (both > static_cast<double>(capacity)) density *= static_cast<double>(capacity) / both;
  const auto count = [&](const RowSample& sample) {
    const auto rows = static_cast<std::size_t>(std::lround(share(sample, density)));
    return std::min(rows, sample.rows_.size());
  };
  std::vector<Row> rows;
  const std::size_t mine = std::min(count(*this), capacity);
  take_spread(rows_, mine, rows);
  take_spread(other.rows_, std::min(count(other), capacity - mine), rows);
  rows_ = std::move(rows);
  seen_ += other.seen_;
  capacity_ = capacity;
  entries_ = entries_of(rows_);
  shrink();
}

bool RowSample::restore(std::uint64_t seen, std::size_t capacity, std::vector<Row> rows) {
  const std::size_t entries = entries_of(rows);
  const bool possible = rows.size() <= capacity && capacity >= 1 && capacity <= kRowsMax &&
                        rows.size() <= seen && entries <= kEntriesMax;
  if (!possible) return false;
  rows_ = std::move(rows);
  seen_ = seen;
  capacity_ = capacity;
  entries_ = entries;
  return true;
}

std::size_t RowSample::heap_bytes() const {
  std::size_t bytes = rows_.capacity() * sizeof(Row);
  constexpr std::size_t kBlockBytes = 16;  // Allocator overhead.
  for (const Row& row : rows_) {
    bytes += row.entries.capacity() * sizeof(RowEntry) + kBlockBytes;
  }
  return bytes;
}

}  // namespace redrive::triage
