#include "base/time_text.h"

#include <fmt/format.h>

#include <chrono>

namespace redrive {

std::string iso_time(Timestamp wall) {
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds(wall.ms())};
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss clock(at - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()),
                     clock.hours().count(),
                     clock.minutes().count(),
                     clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace redrive
