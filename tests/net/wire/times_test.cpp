#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/padded_text.h"
#include "base/time.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"
#include "net/wire/shape.h"

namespace redrive::wire {
namespace {

struct Reading {
  std::optional<Timestamp> at;
  std::optional<Decimal> level;
  std::vector<Decimal> levels;
  std::vector<std::pair<std::string_view, Decimal>> named;
};
consteval auto shape_of(Reading*) {
  return shape(optional("At", &Reading::at),
               optional("Level", &Reading::level),
               optional("Levels", &Reading::levels).members(),
               optional("Named", &Reading::named).each("entry", "key", "value").wrapped());
}

TEST(Times, AreReadAsTextOrSeconds) {
  constexpr Timestamp kTime(1'767'225'600'500);
  Decoder decoder;
  Reading reading;
  for (const std::string_view json : {R"({"At":1767225600.5})",
                                      R"({"At":"1767225600.5"})",
                                      R"({"At":"2026-01-01T00:00:00.500Z"})",
                                      R"({"At":"2026-01-01T00:00:00.500123+00:00"})"}) {
    ASSERT_TRUE(decode_json(decoder, PaddedText(json), reading)) << json;
    EXPECT_EQ(reading.at, kTime) << json;
  }
  ASSERT_TRUE(decode_query(decoder, "", "At=2026-01-01T00%3A00%3A00.500Z", reading));
  EXPECT_EQ(reading.at, kTime);
}

TEST(Times, OutOfTheCalendarAreRefused) {
  Decoder decoder;
  Reading reading;
  for (const std::string_view json :
       {R"({"At":-1})", R"({"At":1e300})", R"({"At":"yesterday"})", R"({"At":true})"}) {
    EXPECT_FALSE(decode_json(decoder, PaddedText(json), reading)) << json;
  }
  EXPECT_EQ(decode_query(decoder, "", "At=yesterday", reading).error().code,
            ErrorCode::invalid_parameter_value);
}

TEST(Times, AreSecondsInJsonAndTextInXml) {
  const Reading reading{.at = Timestamp(1'767'225'600'005)};
  std::string json;
  encode_json(json, reading);
  EXPECT_EQ(json, R"({"At":1767225600.005})");
  std::string xml;
  encode_xml(xml, reading);
  EXPECT_EQ(xml, "<At>2026-01-01T00:00:00.005Z</At>");
}

TEST(Decimals, HaveAPoint) {
  const Reading reading{
      .at = {}, .level = Decimal{5}, .levels = {{0}, {0.25}, {1e22}}, .named = {{"p99", {3}}}};
  std::string json;
  encode_json(json, reading);
  EXPECT_EQ(json, R"({"Level":5.0,"Levels":[0.0,0.25,1e+22],"Named":{"p99":3.0}})");
  std::string xml;
  encode_xml(xml, reading);
  EXPECT_EQ(xml,
            "<Level>5.0</Level><Levels><member>0.0</member><member>0.25</member>"
            "<member>1e+22</member></Levels>"
            "<Named><entry><key>p99</key><value>3.0</value></entry></Named>");
}

TEST(Members, AreReadFromQuery) {
  Decoder decoder;
  Reading reading;
  ASSERT_TRUE(decode_query(decoder, "", "Levels.member.2=2&Levels.member.1=1.5", reading));
  EXPECT_EQ(reading.levels, (std::vector<Decimal>{{1.5}, {2}}));
}

}  // namespace
}  // namespace redrive::wire
