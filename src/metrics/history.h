#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "metrics/catalogue.h"
#include "metrics/series.h"

namespace redrive::metrics {

// Of whom: a queue or a function by its ARN, a mapping by its UUID; the server has none.
struct Subject {
  Scope scope = Scope::server;
  std::string name;

  friend auto operator<=>(const Subject&, const Subject&) = default;
};

// What is known of a period.
struct Bucket {
  std::int64_t samples = 0;  // Points: seconds or minutes.
  std::int64_t sum = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;

  void add(std::int64_t value);
};

enum class Resolution : std::uint8_t { second, minute };

// The metrics of the past: a point for each second of the last hour, for each minute of two weeks.
// All times are engine time. From any thread; a mutex guards everything.
class History {
 public:
  static constexpr std::size_t kSecondsKept = 3'600;
  static constexpr std::size_t kMinutesKept = 14 * 24 * 60;
  // Beyond so many subjects new ones are not remembered, unless an old one has been silent for an
  // hour.
  explicit History(std::size_t subjects_max = 2'000) : subjects_max_(subjects_max) {}

  // What lies between a subject's last values and these: nobody measured, or nothing happened.
  enum class Between : std::uint8_t { unknown, nothing };
  // The values of a subject's metrics at a moment, in the order of metrics_of; counters since the
  // last time. Not for moments before the last one.
  void record(const Subject& subject, Timestamp at, std::span<const Point> values, Between between);
  // The server is ending or a minute is over: the minutes before this moment are complete, though
  // no subject may have had a value since.
  void complete_minutes(Timestamp now);

  // Periods of `step` from `from` to before `to`; nothing where nothing was measured. Steps of
  // whole minutes are answered from the minutes (the present one as far as it has come), others
  // from the seconds.
  std::vector<std::optional<Bucket>> read(const Subject& subject, std::size_t metric,
                                          Timestamp from, Timestamp to,
                                          std::chrono::seconds step) const;
  // Whether anything is known of that metric.
  bool has(const Subject& subject, std::size_t metric) const;
  // Subjects of which something was recorded at or after that moment.
  std::vector<Subject> subjects(Scope scope, Timestamp since) const;
  void forget_all();

  // All points of a resolution from one index (seconds or minutes since 1970) to another as bytes,
  // and back. False when they are not what encode() writes; what came before the fault is kept.
  std::string encode(Resolution resolution, std::int64_t from, std::int64_t to) const;
  bool decode(std::string_view bytes);

  std::size_t memory_bytes() const;
  std::size_t size() const;

 private:
  struct Line {
    Series seconds{kSecondsKept};
    Series minutes{kMinutesKept};
    Point minute;  // Of the present one, so far.
  };
  struct Entry {
    std::vector<Line> lines;
    std::int64_t second = -1;  // The last one recorded.
  };

  Entry* entry_for(const Subject& subject, std::int64_t second);
  bool make_room(std::int64_t second);
  static void end_minute(Entry& entry, std::span<const Metric> metrics);
  static void fill(Entry& entry, std::span<const Metric> metrics, std::int64_t second);
  static const Series& series_of(const Line& line, Resolution resolution);
  static void decode_zeros(Entry& entry, std::span<const Metric> metrics, Resolution resolution,
                           std::int64_t from, std::int64_t to, const std::vector<bool>& listed);
  bool decode_entry(std::string_view& bytes, Resolution resolution);

  const std::size_t subjects_max_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Subject, Entry> entries_;
  std::int64_t full_until_ = 0;  // No subject can make room for another before that second.
};

}  // namespace redrive::metrics
