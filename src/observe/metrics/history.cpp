#include "observe/metrics/history.h"

#include <algorithm>
#include <cassert>

#include "base/varint.h"

namespace redrive::metrics {
namespace {

constexpr std::int64_t kSecondsPerMinute = 60;

std::int64_t merge(Nature nature, const Point& before, std::int64_t value) {
  if (!before) return value;
  switch (nature) {
    case Nature::gauge:
    case Nature::highest:
      return std::max(*before, value);
    case Nature::counter:
      return *before + value;
    case Nature::lowest:
      return std::min(*before, value);
  }
  return value;
}

// Gauges and counters have a value even without activity; the others do not.
bool is_dense(Nature nature) {
  return nature == Nature::gauge || nature == Nature::counter;
}
std::int64_t resting(Nature nature, const Series& series) {
  return nature == Nature::gauge ? series.last().value_or(0) : 0;
}

}  // namespace

void Bucket::add(std::int64_t value) {
  min = samples == 0 ? value : std::min(min, value);
  max = samples == 0 ? value : std::max(max, value);
  sum += value;
  ++samples;
}

const Series& History::series_of(const Line& line, Resolution resolution) {
  return resolution == Resolution::second ? line.seconds : line.minutes;
}

History::Entry* History::entry_for(const Subject& subject, std::int64_t second) {
  if (const auto found = entries_.find(subject); found != entries_.end()) return &found->second;
  if (entries_.size() >= subjects_max_ && !evict_silent(second)) return nullptr;
  Entry& entry = entries_[subject];
  entry.lines.resize(metrics_of(subject.scope).size());
  return &entry;
}

// Evicts the subject that has been silent for longest, if that is at least an hour. The earliest
// time at which this can succeed is cached, because thousands of callers may ask every second.
bool History::evict_silent(std::int64_t second) {
  if (second < full_until_) return false;
  const auto oldest =
      std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.second; });
  if (oldest == entries_.end()) return false;
  full_until_ = oldest->second.second + static_cast<std::int64_t>(kSecondsKept);
  if (second < full_until_) return false;
  entries_.erase(oldest);
  return true;
}

void History::end_minute(Entry& entry, std::span<const Metric> metrics) {
  const std::int64_t minute = entry.second / kSecondsPerMinute;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    Line& line = entry.lines[i];
    if (line.minute) line.minutes.set(minute, *line.minute);
    line.minute.reset();
  }
}

// Fills in the time without activity from the last values up to, not including, `second`.
void History::fill(Entry& entry, std::span<const Metric> metrics, std::int64_t second) {
  const std::int64_t minute = second / kSecondsPerMinute;
  const bool over = minute > entry.second / kSecondsPerMinute;
  if (over) end_minute(entry, metrics);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (!is_dense(metrics[i].nature)) continue;
    Line& line = entry.lines[i];
    const std::int64_t value = resting(metrics[i].nature, line.seconds);
    line.seconds.fill(second, value);
    line.minutes.fill(minute, value);
    if (over && second % kSecondsPerMinute != 0) line.minute = value;
  }
}

void History::record(const Subject& subject, Timestamp at, std::span<const Point> values,
                     Between between) {
  const auto metrics = metrics_of(subject.scope);
  assert(values.size() == metrics.size());
  const std::int64_t second = at.seconds();
  const MutexLock lock(mutex_);
  Entry* const entry = entry_for(subject, second);
  if (entry == nullptr || second <= entry->second) return;
  if (entry->second >= 0) {
    const bool over = second / kSecondsPerMinute > entry->second / kSecondsPerMinute;
    const bool gap = second > entry->second + 1;
    if (between == Between::nothing && (gap || over)) {
      fill(*entry, metrics, second);
    } else if (over) {
      end_minute(*entry, metrics);
    }
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (!values[i]) continue;
    Line& line = entry->lines[i];
    line.seconds.set(second, *values[i]);
    line.minute = merge(metrics[i].nature, line.minute, *values[i]);
  }
  entry->second = second;
}

void History::complete_minutes(Timestamp now) {
  const MutexLock lock(mutex_);
  for (auto& [subject, entry] : entries_) {
    if (now.seconds() / kSecondsPerMinute > entry.second / kSecondsPerMinute) {
      end_minute(entry, metrics_of(subject.scope));
    }
  }
}

std::vector<std::optional<Bucket>> History::read(const Subject& subject, std::size_t metric,
                                                 Timestamp from, Timestamp to,
                                                 std::chrono::seconds step) const {
  const bool by_minute = step.count() % kSecondsPerMinute == 0;
  const std::int64_t unit = by_minute ? kSecondsPerMinute : 1;
  const std::int64_t points_each = step.count() / unit;
  const std::int64_t begin = from.seconds() / unit;
  const std::int64_t end = (to.seconds() + unit - 1) / unit;
  std::vector<std::optional<Bucket>> buckets(static_cast<std::size_t>(
      std::max<std::int64_t>(0, (end - begin + points_each - 1) / points_each)));
  const MutexLock lock(mutex_);
  const auto found = entries_.find(subject);
  if (found == entries_.end() || metric >= found->second.lines.size()) return buckets;
  const Line& line = found->second.lines[metric];
  const auto add = [&](std::int64_t index, std::int64_t value) {
    auto& bucket = buckets[static_cast<std::size_t>((index - begin) / points_each)];
    if (!bucket) bucket.emplace();
    bucket->add(value);
  };
  const Series& series = by_minute ? line.minutes : line.seconds;
  // Clamp to the existing points: a query may cover centuries.
  const std::int64_t first = std::max(begin, series.begin());
  const std::vector<Point> points = series.read(first, std::min(end, series.end()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i]) add(first + static_cast<std::int64_t>(i), *points[i]);
  }
  const std::int64_t present = found->second.second / unit;
  if (by_minute && line.minute && present >= begin && present < end) add(present, *line.minute);
  return buckets;
}

bool History::has(const Subject& subject, std::size_t metric) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(subject);
  if (found == entries_.end()) return false;
  const Line& line = found->second.lines[metric];
  return line.minute || !line.seconds.empty() || !line.minutes.empty();
}

std::vector<Subject> History::subjects(Scope scope, Timestamp since) const {
  const MutexLock lock(mutex_);
  std::vector<Subject> found;
  for (const auto& [subject, entry] : entries_) {
    if (subject.scope == scope && entry.second >= since.seconds()) found.push_back(subject);
  }
  return found;
}

void History::forget_all() {
  const MutexLock lock(mutex_);
  entries_.clear();
  full_until_ = 0;
}

std::size_t History::size() const {
  const MutexLock lock(mutex_);
  return entries_.size();
}

std::size_t History::memory_bytes() const {
  const MutexLock lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [subject, entry] : entries_) {
    bytes += sizeof(std::pair<Subject, Entry>) + subject.name.capacity();
    for (const Line& line : entry.lines) {
      bytes += line.seconds.memory_bytes() + line.minutes.memory_bytes() + sizeof(Point);
    }
  }
  return bytes;
}

}  // namespace redrive::metrics
