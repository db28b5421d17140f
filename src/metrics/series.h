#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::metrics {

// One point; nothing where nobody measured.
using Point = std::optional<std::int64_t>;

// A row of points at equal distances, the latest last, as small as it can be: a value that stays
// costs nothing however long it stays, one that changes costs a byte or two.
//
//   point   = delta | same | gap           each a varint whose two lowest bits say which:
//   delta   = zigzag(value - last) << 2    one point
//   same    = count << 2 | 1               so many points like the last
//   gap     = count << 2 | 2               so many points that nobody measured
//
// The last run is kept outside of the bytes while it grows. Points are read from the front: a
// week of them in some ten microseconds.
class Series {
 public:
  explicit Series(std::size_t points_max) : points_max_(points_max) {}

  // The index of the first point kept, and of the one that will be appended next.
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return begin_ + static_cast<std::int64_t>(count_); }
  bool empty() const { return count_ == 0; }

  // Sets the point at that index; what lies between the last point and it was not measured. Points
  // before end() are left as they are. What is older than points_max before it is forgotten.
  void set(std::int64_t index, std::int64_t value);
  // The points from the last one up to `to`, without it, have this value.
  void fill(std::int64_t to, std::int64_t value);
  // The points from one index to another, without the latter.
  std::vector<Point> read(std::int64_t from, std::int64_t to) const;
  // The last point, if there is any.
  Point last() const;

  // A part of it as bytes, and back: sets the points that they hold and takes them off the front.
  // False when they are not what encode() writes.
  std::string encode(std::int64_t from, std::int64_t to) const;
  bool decode(std::string_view& bytes);

  std::size_t memory_bytes() const { return bytes_.capacity() + sizeof(*this); }

 private:
  // Two bits of a varint say what it is; sums beyond this are not worth more.
  static constexpr std::int64_t kValueMax = std::int64_t{1} << 57;
  enum class Kind : std::uint8_t { delta = 0, same = 1, gap = 2 };

  void append_run(Kind kind, std::uint64_t count);
  void flush_run();
  void forget(std::uint64_t points);
  void drop_front();
  bool is_sound() const;

  std::size_t points_max_;
  std::int64_t begin_ = 0;
  std::size_t count_ = 0;
  std::int64_t first_base_ = 0;   // What the first delta in the bytes is counted from.
  std::int64_t last_ = 0;         // The last value measured.
  std::size_t front_ = 0;         // Where in the bytes the first point is.
  std::uint64_t front_skip_ = 0;  // So many points of the run there are gone.
  std::string bytes_;
  Kind run_ = Kind::same;
  std::uint64_t run_count_ = 0;
};

}  // namespace redrive::metrics
