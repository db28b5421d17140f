#include "base/calendar.h"

#include <gtest/gtest.h>

namespace redrive {
namespace {

TEST(Calendar, WritesAndReadsTheSameMoments) {
  const struct {
    std::int64_t ms;
    const char* text;
  } cases[] = {
      {0, "1970-01-01T00:00:00.000Z"},
      {951'782'399'999, "2000-02-28T23:59:59.999Z"},
      {951'782'400'000, "2000-02-29T00:00:00.000Z"},
      {1'767'225'600'000, "2026-01-01T00:00:00.000Z"},
      {1'782'907'445'006, "2026-07-01T12:04:05.006Z"},
      {kCalendarEnd.ms(), "9999-12-31T23:59:59.999Z"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.text);
    EXPECT_EQ(format_utc(Timestamp(each.ms)), each.text);
    EXPECT_EQ(parse_utc(each.text), Timestamp(each.ms));
  }
}

TEST(Calendar, TakesShorterFractions) {
  EXPECT_EQ(parse_utc("1970-01-01T00:00:01Z"), Timestamp(1'000));
  EXPECT_EQ(parse_utc("1970-01-01T00:00:01.5Z"), Timestamp(1'500));
  EXPECT_EQ(parse_utc("1970-01-01T00:00:01.25Z"), Timestamp(1'250));
}

TEST(Calendar, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           "now",
                           "2026-01-01",
                           "2026-01-01T00:00:00",
                           "2026-01-01T00:00:00+01:00",
                           "2026-01-01 00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:60Z",
                           "2026-01-01T00:00:00.Z",
                           "2026-01-01T00:00:00.1234Z",
                           "2026-01-01T00:00:00Z ",
                           "2026-01-01T00:00:00.5Z1",
                           "2026-01-01T-1:00:00Z",
                           "1969-12-31T23:59:59Z"}) {
    EXPECT_EQ(parse_utc(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace redrive
