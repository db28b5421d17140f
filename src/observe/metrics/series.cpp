#include "observe/metrics/series.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/varint.h"

namespace redrive::metrics {
namespace {

constexpr unsigned kKindBits = 2;
constexpr std::size_t kFrontBytesMax = 64;  // Bytes of dropped points that may remain.

// For bytes written by ourselves.
std::uint64_t next_token(std::string_view bytes, std::size_t& at) {
  std::uint64_t token = 0;
  const bool whole = take_varint(bytes, at, token);
  assert(whole);
  return token;
}

}  // namespace

void Series::append_run(Kind kind, std::uint64_t count) {
  if (run_ != kind) flush_run();
  run_ = kind;
  run_count_ += count;
  count_ += count;
}

void Series::flush_run() {
  if (run_count_ == 0) return;
  append_varint(bytes_, run_count_ << kKindBits | static_cast<std::uint64_t>(run_));
  run_count_ = 0;
}

void Series::set(std::int64_t index, std::int64_t value) {
  value = std::clamp(value, -kValueMax, kValueMax);
  if (empty() || index - end() >= static_cast<std::int64_t>(points_max_)) {
    *this = Series(points_max_);
    begin_ = index;
  }
  if (index < end()) return;
  if (index > end()) append_run(Kind::gap, static_cast<std::uint64_t>(index - end()));
  if (value == last_) {
    append_run(Kind::same, 1);
  } else {
    flush_run();
    append_varint(bytes_, zigzag(value - last_) << kKindBits);
    ++count_;
    last_ = value;
  }
  if (count_ > points_max_) forget(count_ - points_max_);
}

void Series::fill(std::int64_t to, std::int64_t value) {
  if (empty() || end() >= to) return;
  set(end(), value);
  if (end() < to) append_run(Kind::same, static_cast<std::uint64_t>(to - end()));
  if (count_ > points_max_) forget(count_ - points_max_);
}

// Drops points from the front: whole runs, or part of one.
void Series::forget(std::uint64_t points) {
  begin_ += static_cast<std::int64_t>(points);
  count_ -= points;
  while (points > 0 && front_ < bytes_.size()) {
    std::size_t next = front_;
    const std::uint64_t token = next_token(bytes_, next);
    const bool is_delta = (token & 3) == static_cast<std::uint64_t>(Kind::delta);
    const std::uint64_t length = is_delta ? 1 : (token >> kKindBits) - front_skip_;
    if (length > points) {
      front_skip_ += points;
      points = 0;
      break;
    }
    if (is_delta) first_base_ += unzigzag(token >> kKindBits);
    points -= length;
    front_skip_ = 0;
    front_ = next;
  }
  assert(points <= run_count_);
  run_count_ -= points;
  if (front_ > std::max(kFrontBytesMax, bytes_.size() / 8)) drop_front();
}

// Reserves a little extra; std::string's doubling would double the total memory.
void Series::drop_front() {
  std::string rest;
  rest.reserve((bytes_.size() - front_) * 5 / 4);
  rest.append(bytes_, front_);
  bytes_.swap(rest);
  front_ = 0;
}

std::vector<Point> Series::read(std::int64_t from, std::int64_t to) const {
  std::vector<Point> points(static_cast<std::size_t>(std::max<std::int64_t>(0, to - from)));
  std::int64_t index = begin_;
  std::int64_t value = first_base_;
  const auto put = [&](std::uint64_t count, const Point& point) {
    const std::int64_t end = index + static_cast<std::int64_t>(count);
    for (std::int64_t i = std::max(index, from); i < std::min(end, to); ++i) {
      points[static_cast<std::size_t>(i - from)] = point;
    }
    index = end;
  };
  const auto put_run = [&](Kind kind, std::uint64_t count) {
    put(count, kind == Kind::same ? Point(value) : std::nullopt);
  };
  std::uint64_t skip = front_skip_;
  for (std::size_t at = front_; at < bytes_.size() && index < to;) {
    const std::uint64_t token = next_token(bytes_, at);
    const auto kind = static_cast<Kind>(token & 3);
    if (kind == Kind::delta) {
      value += unzigzag(token >> kKindBits);
      put(1, value);
    } else {
      put_run(kind, (token >> kKindBits) - std::exchange(skip, 0));
    }
  }
  if (index < to) put_run(run_, run_count_);
  return points;
}

std::string Series::encode(std::int64_t from, std::int64_t to) const {
  Series part(points_max_);
  const std::vector<Point> points = read(from, to);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i]) part.set(from + static_cast<std::int64_t>(i), *points[i]);
  }
  part.flush_run();
  std::string out;
  append_varint(out, zigzag(part.begin_));
  append_varint(out, part.count_);
  append_varint(out, part.bytes_.size());
  return out + part.bytes_;
}

bool Series::decode(std::string_view& bytes) {
  Series part(points_max_);
  std::size_t at = 0;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  if (!take_varint(bytes, at, begin) || !take_varint(bytes, at, count)) return false;
  if (!take_varint(bytes, at, size) || bytes.size() - at < size || count > points_max_)
    return false;
  part.begin_ = unzigzag(begin);
  part.count_ = count;
  part.bytes_ = bytes.substr(at, size);
  if (!part.is_sound()) return false;
  bytes.remove_prefix(at + size);
  const std::vector<Point> points = part.read(part.begin(), part.end());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i]) set(part.begin() + static_cast<std::int64_t>(i), *points[i]);
  }
  return true;
}

// Whether the bytes contain as many points as claimed and end with a complete token.
bool Series::is_sound() const {
  std::uint64_t points = 0;
  for (std::size_t at = 0; at < bytes_.size();) {
    std::uint64_t token = 0;
    if (!take_varint(bytes_, at, token) || (token & 3) == 3) return false;
    points += (token & 3) == static_cast<std::uint64_t>(Kind::delta) ? 1 : token >> kKindBits;
    if (points > count_) return false;
  }
  return points == count_;
}

Point Series::last() const {
  return empty() ? std::nullopt : Point(last_);
}

}  // namespace redrive::metrics
