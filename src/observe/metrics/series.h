#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::metrics {

// One point; nullopt if not measured.
using Point = std::optional<std::int64_t>;

// A compressed series of equidistant points: a constant value takes no space however long it lasts,
// a change takes a byte or two.
//
//   point   = delta | same | gap           each a varint whose two lowest bits are the kind:
//   delta   = zigzag(value - last) << 2    one point
//   same    = count << 2 | 1               that many points equal to the last
//   gap     = count << 2 | 2               that many points without a measurement
//
// The last run is kept outside the bytes while it grows. Points are read from the front: a week of
// them in some ten microseconds.
class Series {
 public:
  explicit Series(std::size_t points_max) : points_max_(points_max) {}

  // The index of the first point, and of the next one to be appended.
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return begin_ + static_cast<std::int64_t>(count_); }
  bool empty() const { return count_ == 0; }

  // Sets the point at `index`; points between the last one and it are marked as not measured.
  // Points before end() are not changed. Points older than points_max are dropped.
  void set(std::int64_t index, std::int64_t value);
  // Appends this value up to, not including, `to`.
  void fill(std::int64_t to, std::int64_t value);
  // The points from `from` up to, not including, `to`.
  std::vector<Point> read(std::int64_t from, std::int64_t to) const;
  // The last point, if there is any.
  Point last() const;

  // Encodes a range; decode() sets its points and removes the bytes from the front. Returns false
  // if the bytes are invalid.
  std::string encode(std::int64_t from, std::int64_t to) const;
  bool decode(std::string_view& bytes);

  std::size_t memory_bytes() const { return bytes_.capacity() + sizeof(*this); }

 private:
  // Two bits of the varint are the kind; larger values are clamped.
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
  std::int64_t first_base_ = 0;   // Base value of the first delta in the bytes.
  std::int64_t last_ = 0;         // The last value measured.
  std::size_t front_ = 0;         // Position of the first point in the bytes.
  std::uint64_t front_skip_ = 0;  // Points already dropped from the run at front_.
  std::string bytes_;
  Kind run_ = Kind::same;
  std::uint64_t run_count_ = 0;
};

}  // namespace redrive::metrics
