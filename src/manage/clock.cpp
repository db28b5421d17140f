// The clock: shown to operators, moved by tests if it is virtual.

#include <cmath>

#include "base/calendar.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr Duration kAdvanceMax = std::chrono::days(3650);

std::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::invalid_parameter_value, std::move(why));
}

Result<Duration> duration_of(const AdvanceClockInput& input) {
  if (input.seconds.has_value() == input.milliseconds.has_value()) {
    return fail(ErrorCode::missing_parameter,
                R"(Say how far: either {"seconds": 900} or {"milliseconds": 250}.)");
  }
  const double ms = std::round(input.seconds ? *input.seconds * 1000 : *input.milliseconds);
  if (ms < 1) return refuse("Time can only be advanced, by at least a millisecond.");
  if (ms > static_cast<double>(kAdvanceMax.count())) {
    return refuse("Time can be advanced by at most ten years (315360000 seconds).");
  }
  return Duration(static_cast<std::int64_t>(ms));
}

Timestamp wall(const Call& call) {
  return call.parts.engine.turn([](engine::Turn& turn) { return turn.stamp().wall; });
}

}  // namespace

Result<ClockView> show_clock(Call& call) {
  const Timestamp now = wall(call);
  return ClockView{.is_virtual = call.parts.time != nullptr,
                   .now = call.keep(format_utc(now)),
                   .epoch_milliseconds = now.ms(),
                   .waiting_receives = static_cast<std::int64_t>(call.parts.engine.waiting()),
                   .held_seconds = call.parts.engine.held_time().count() / 1000};
}

// Idempotent: without held time nothing changes.
Result<ClockView> accept_clock(Call& call) {
  call.parts.engine.accept_held_time();
  return show_clock(call);
}

Result<ClockView> advance_clock(Call& call, const AdvanceClockInput& input) {
  if (call.parts.time == nullptr) {
    return fail(ErrorCode::access_denied,
                "The server uses the real clock. Time can be advanced on a server started with "
                "`redrive serve --virtual-clock`.");
  }
  const Duration by = TRY(duration_of(input));
  if (wall(call) + by > kCalendarEnd) return refuse("Time ends with the year 9999.");
  call.parts.time->advance(by);
  return show_clock(call);
}

}  // namespace redrive::manage
