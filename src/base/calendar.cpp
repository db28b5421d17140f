#include "base/calendar.h"

#include <fmt/format.h>

#include <cassert>
#include <chrono>

#include "base/text.h"

namespace redrive {
namespace {

using std::chrono::year_month_day;

constexpr std::int64_t kDayMs = 86'400'000;

// Removes a number of exactly `digits` digits, and the separator after it, from the front of
// `text`.
std::optional<int> take_number(std::string_view& text, std::size_t digits, char separator) {
  if (text.size() <= digits || text[digits] != separator) return std::nullopt;
  const auto number = parse_int<unsigned>(text.substr(0, digits));
  if (!number) return std::nullopt;
  text.remove_prefix(digits + 1);
  return static_cast<int>(*number);
}

std::optional<Timestamp> take_day(std::string_view& text) {
  const auto year = take_number(text, 4, '-');
  const auto month = year ? take_number(text, 2, '-') : std::nullopt;
  const auto day = month ? take_number(text, 2, 'T') : std::nullopt;
  if (!day) return std::nullopt;
  const year_month_day date{std::chrono::year(*year),
                            std::chrono::month(static_cast<unsigned>(*month)),
                            std::chrono::day(static_cast<unsigned>(*day))};
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  if (!date.ok() || days < 0) return std::nullopt;
  return Timestamp(days * kDayMs);
}

// "59Z", "59.5Z"
std::optional<Duration> take_seconds(std::string_view text) {
  if (const auto whole = take_number(text, 2, 'Z')) {
    if (!text.empty() || *whole > 59) return std::nullopt;
    return std::chrono::seconds(*whole);
  }
  const auto whole = take_number(text, 2, '.');
  if (!whole || *whole > 59) return std::nullopt;
  int unit = 100;
  for (std::size_t digits = 1; digits <= 3; ++digits, unit /= 10) {
    const auto fraction = take_number(text, digits, 'Z');
    if (!fraction) continue;
    if (!text.empty()) return std::nullopt;
    return std::chrono::seconds(*whole) + Duration(*fraction * unit);
  }
  return std::nullopt;
}

}  // namespace

std::string format_utc(Timestamp time) {
  assert(time >= Timestamp() && time <= kCalendarEnd);
  const year_month_day date{std::chrono::sys_days(std::chrono::days(time.ms() / kDayMs))};
  const std::int64_t ms = time.ms() % kDayMs;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()),
                     ms / 3'600'000,
                     ms / 60'000 % 60,
                     ms / 1000 % 60,
                     ms % 1000);
}

std::optional<Timestamp> parse_utc(std::string_view text) {
  const auto day = take_day(text);
  const auto hour = day ? take_number(text, 2, ':') : std::nullopt;
  const auto minute = hour ? take_number(text, 2, ':') : std::nullopt;
  const auto seconds = minute ? take_seconds(text) : std::nullopt;
  if (!seconds || *hour > 23 || *minute > 59) return std::nullopt;
  return *day + std::chrono::hours(*hour) + std::chrono::minutes(*minute) + *seconds;
}

}  // namespace redrive
