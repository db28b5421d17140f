#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "observe/metrics/catalogue.h"
#include "observe/metrics/series.h"

namespace redrive::metrics {

// What a metric belongs to: a queue or a function by ARN, a mapping by UUID; empty for the server.
struct Subject {
  Scope scope = Scope::server;
  std::string name;

  friend auto operator<=>(const Subject&, const Subject&) = default;
};

// Aggregate of a period.
struct Bucket {
  std::int64_t samples = 0;  // Number of points (seconds or minutes).
  std::int64_t sum = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;

  void add(std::int64_t value);
};

enum class Resolution : std::uint8_t { second, minute };

// Metrics history: one point per second for the last hour, one per minute for two weeks. All times
// are engine time. Thread-safe; a mutex guards everything.
class History {
 public:
  static constexpr std::size_t kSecondsKept = 3'600;
  static constexpr std::size_t kMinutesKept = 14 * 24 * 60;
  // Beyond `subjects_max` subjects, new ones are ignored unless an old one has been silent for an
  // hour.
  explicit History(std::size_t subjects_max = 2'000) : subjects_max_(subjects_max) {}

  // What is between a subject's last values and these: no measurement, or no activity.
  enum class Between : std::uint8_t { unknown, nothing };
  // Records the values of a subject's metrics at a moment, in the order of metrics_of; counters as
  // the increase since the last call. `at` must not go backwards.
  void record(const Subject& subject, Timestamp at, std::span<const Point> values, Between between);
  // Completes the minutes before `now`, even for subjects without new values. Call at shutdown and
  // at the end of each minute.
  void complete_minutes(Timestamp now);

  // Aggregates per `step` from `from` up to, not including, `to`; nullopt for periods without
  // measurements. Steps of whole minutes use the minutes (including the current one so far), others
  // the seconds.
  std::vector<std::optional<Bucket>> read(const Subject& subject, std::size_t metric,
                                          Timestamp from, Timestamp to,
                                          std::chrono::seconds step) const;
  // Whether there are any points for that metric.
  bool has(const Subject& subject, std::size_t metric) const;
  // Subjects with values recorded at or after `since`.
  std::vector<Subject> subjects(Scope scope, Timestamp since) const;
  void forget_all();

  // Encodes all points of a resolution in a range of indices (seconds or minutes since 1970), and
  // decodes them. decode() returns false for invalid bytes; points before the error are kept.
  std::string encode(Resolution resolution, std::int64_t from, std::int64_t to) const;
  bool decode(std::string_view bytes);

  std::size_t memory_bytes() const;
  std::size_t size() const;

 private:
  struct Line {
    Series seconds{kSecondsKept};
    Series minutes{kMinutesKept};
    Point minute;  // The current minute so far.
  };
  struct Entry {
    std::vector<Line> lines;
    std::int64_t second = -1;  // The last one recorded.
  };

  Entry* entry_for(const Subject& subject, std::int64_t second) REQUIRES(mutex_);
  bool evict_silent(std::int64_t second) REQUIRES(mutex_);
  static void end_minute(Entry& entry, std::span<const Metric> metrics);
  static void fill(Entry& entry, std::span<const Metric> metrics, std::int64_t second);
  static const Series& series_of(const Line& line, Resolution resolution);
  static void decode_zeros(Entry& entry, std::span<const Metric> metrics, Resolution resolution,
                           std::int64_t from, std::int64_t to, const std::vector<bool>& listed);
  bool decode_entry(std::string_view& bytes, Resolution resolution) REQUIRES(mutex_);

  const std::size_t subjects_max_;
  mutable Mutex mutex_;
  std::map<Subject, Entry> entries_ GUARDED_BY(mutex_);
  std::int64_t full_until_ GUARDED_BY(mutex_) = 0;  // No subject can be evicted before that second.
};

}  // namespace redrive::metrics
