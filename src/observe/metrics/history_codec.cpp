// Binary encoding of the history, for files:
//
//   resolution  varint
//   entries     scope varint, size of name varint, name,
//               first index zigzag varint, count varint,
//               number of lines varint, each: metric varint, Series::encode
//
// A metric that is not listed was 0 for the whole range or, if it only has values for events, had
// none. An idle queue takes its name and six bytes.

#include <algorithm>

#include "base/varint.h"
#include "observe/metrics/history.h"

namespace redrive::metrics {
namespace {

bool is_listed(Nature nature, std::span<const Point> points) {
  const bool dense = nature == Nature::gauge || nature == Nature::counter;
  return !std::ranges::all_of(
      points, [&](const Point& point) { return dense ? point == Point(0) : !point; });
}

}  // namespace

std::string History::encode(Resolution resolution, std::int64_t from, std::int64_t to) const {
  std::string out;
  append_varint(out, static_cast<std::uint64_t>(resolution));
  const MutexLock lock(mutex_);
  for (const auto& [subject, entry] : entries_) {
    const auto metrics = metrics_of(subject.scope);
    const Series& reference = series_of(entry.lines.front(), resolution);
    const std::int64_t first = std::max(from, reference.begin());
    const std::int64_t end = std::min(to, reference.end());
    if (reference.empty() || first >= end) continue;
    append_varint(out, static_cast<std::uint64_t>(subject.scope));
    append_varint(out, subject.name.size());
    out += subject.name;
    append_varint(out, zigzag(first));
    append_varint(out, static_cast<std::uint64_t>(end - first));
    std::string lines;
    std::uint64_t listed = 0;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const Series& series = series_of(entry.lines[i], resolution);
      if (!is_listed(metrics[i].nature, series.read(first, end))) continue;
      append_varint(lines, i);
      lines += series.encode(first, end);
      ++listed;
    }
    append_varint(out, listed);
    out += lines;
  }
  return out;
}

void History::decode_zeros(Entry& entry, std::span<const Metric> metrics, Resolution resolution,
                           std::int64_t from, std::int64_t to, const std::vector<bool>& listed) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const Nature nature = metrics[i].nature;
    if (listed[i] || nature == Nature::highest || nature == Nature::lowest) continue;
    Series& series =
        resolution == Resolution::second ? entry.lines[i].seconds : entry.lines[i].minutes;
    series.set(from, 0);
    series.fill(to, 0);
  }
}

bool History::decode_entry(std::string_view& bytes, Resolution resolution) {
  std::size_t at = 0;
  std::uint64_t scope = 0;
  std::uint64_t size = 0;
  if (!take_varint(bytes, at, scope) || scope > static_cast<std::uint64_t>(Scope::mapping) ||
      !take_varint(bytes, at, size) || bytes.size() - at < size) {
    return false;
  }
  Subject subject{static_cast<Scope>(scope), std::string(bytes.substr(at, size))};
  at += size;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t lines = 0;
  if (!take_varint(bytes, at, first) || !take_varint(bytes, at, count) || count > kMinutesKept ||
      !take_varint(bytes, at, lines)) {
    return false;
  }
  bytes.remove_prefix(at);
  const auto metrics = metrics_of(subject.scope);
  const std::int64_t from = unzigzag(first);
  const std::int64_t to = from + static_cast<std::int64_t>(count);
  const std::int64_t unit = resolution == Resolution::second ? 1 : 60;
  Entry* const known = entry_for(subject, to * unit);
  Entry passing;  // The table is full; parsed to reach what follows, then dropped.
  passing.lines.resize(metrics.size());
  Entry& entry = known != nullptr ? *known : passing;
  std::vector<bool> listed(metrics.size());
  for (; lines > 0; --lines) {
    at = 0;
    std::uint64_t metric = 0;
    if (!take_varint(bytes, at, metric) || metric >= metrics.size()) return false;
    bytes.remove_prefix(at);
    listed[metric] = true;
    Line& line = entry.lines[metric];
    if (!(resolution == Resolution::second ? line.seconds : line.minutes).decode(bytes)) {
      return false;
    }
  }
  decode_zeros(entry, metrics, resolution, from, to, listed);
  entry.second = std::max(entry.second, to * unit - 1);
  return true;
}

bool History::decode(std::string_view bytes) {
  std::size_t at = 0;
  std::uint64_t resolution = 0;
  if (!take_varint(bytes, at, resolution) || resolution > 1) return false;
  bytes.remove_prefix(at);
  const MutexLock lock(mutex_);
  while (!bytes.empty()) {
    if (!decode_entry(bytes, static_cast<Resolution>(resolution))) return false;
  }
  return true;
}

}  // namespace redrive::metrics
