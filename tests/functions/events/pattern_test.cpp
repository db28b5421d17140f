#include "functions/events/pattern.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

namespace redrive::events {
namespace {

struct Case {
  std::string pattern;
  std::string body;
  bool expected;
};

bool fits(const std::string& pattern, const Record& record) {
  const auto parsed = parse_pattern(pattern);
  EXPECT_TRUE(parsed.has_value()) << pattern;
  return parsed && parsed->matches(record);
}

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    SCOPED_TRACE(one.pattern + " on " + one.body);
    Record record;
    record.body = one.body;
    EXPECT_EQ(fits(one.pattern, record), one.expected);
  }
}

// A pattern for one field `a` of a JSON body.
std::string on_a(const std::string& leaf) {
  return R"({"body":{"a":)" + leaf + "}}";
}

void check_a(const std::string& leaf, const std::vector<std::string>& fitting,
             const std::vector<std::string>& others) {
  for (const auto& value : fitting) check({{on_a(leaf), "{\"a\":" + value + "}", true}});
  for (const auto& value : others) check({{on_a(leaf), "{\"a\":" + value + "}", false}});
}

TEST(Pattern, ComparesExactly) {
  check_a(R"(["x"])", {R"("x")"}, {R"("X")", R"("xx")", R"("")", "null", "1", "{}", "[]"});
  check_a(R"([""])", {R"("")"}, {R"("x")", "null"});
  check_a(R"([300])", {"300", "300.0", "3.0e2"}, {R"("300")", "301", "300.5"});
  check_a(R"([9007199254740993])", {"9007199254740993"}, {"9007199254740992"});
  check_a(R"([18446744073709551615])", {"18446744073709551615"}, {"-1"});
  check_a(R"([null])", {"null"}, {R"("null")", "0", "false", "{}"});
  check_a(R"([true,"b"])", {"true", R"("b")"}, {"false", R"("true")", "1"});
  check({{on_a("[null]"), "{}", false}});
}

TEST(Pattern, KnowsTextOperators) {
  check_a(
      R"([{"prefix":"us-"}])", {R"("us-east-1")", R"("us-")"}, {R"("US-east")", R"("us")", "1"});
  check_a(R"([{"prefix":{"equals-ignore-case":"Us-"}}])", {R"("uS-east")"}, {R"("eu-us-")"});
  check_a(R"([{"suffix":".png"}])", {R"("a.png")"}, {R"("a.PNG")", R"("png")", "null"});
  check_a(R"([{"suffix":{"equals-ignore-case":".png"}}])", {R"("a.PnG")"}, {R"("a.png2")"});
  check_a(R"([{"equals-ignore-case":"alice"}])", {R"("ALICE")", R"("alice")"}, {R"("alic")", "1"});
  check_a(R"([{"wildcard":"a*b"}])", {R"("ab")", R"("a--b")", R"("abab")"}, {R"("abc")", R"("b")"});
  check_a(R"([{"wildcard":"*x*y"}])", {R"("xy")", R"("-x-xyy")"}, {R"("y")", R"("yx")"});
  check_a(R"([{"wildcard":"a\\*\\\\"}])", {R"("a*\\")"}, {R"("ab\\")"});
  check_a(R"([{"wildcard":"*"}])", {R"("")", R"("x")"}, {"1", "null"});
  check_a(R"([{"wildcard":"ab*ba"}])", {R"("abba")"}, {R"("aba")"});
}

TEST(Pattern, AnythingButNeedsAValue) {
  check_a(R"([{"anything-but":"x"}])", {R"("y")", "1", "null", R"(["x","y"])"}, {R"("x")", "{}"});
  check_a(R"([{"anything-but":["x","y"]}])", {R"("z")"}, {R"("x")", R"("y")", R"(["x","y"])"});
  check_a(R"([{"anything-but":[1,2.0]}])", {"3", R"("1")"}, {"1.0", "2"});
  check_a(R"([{"anything-but":{"prefix":"x"}}])", {R"("yx")", "1"}, {R"("xy")"});
  check_a(R"([{"anything-but":{"suffix":["x","y"]}}])", {R"("xz")"}, {R"("zx")", R"("zy")"});
  check_a(R"([{"anything-but":{"equals-ignore-case":["X"]}}])", {R"("y")"}, {R"("x")"});
  check_a(R"([{"anything-but":{"wildcard":"*x*"}}])", {R"("y")"}, {R"("axb")"});
  check({{on_a(R"([{"anything-but":"x"}])"), "{}", false}});
}

TEST(Pattern, ComparesNumbers) {
  check_a(R"([{"numeric":[">",0,"<=",5]}])", {"0.1", "5", "5.0"}, {"0", "5.1", R"("3")", "null"});
  check_a(R"([{"numeric":["=",3]}])", {"3", "3.0"}, {"4"});
  check_a(R"([{"numeric":[">=",-1]}])", {"-1", "99999999999"}, {"-1.5"});
  check_a(R"([{"numeric":["<",1]}])", {"0"}, {"1"});
}

TEST(Pattern, ExistsSpeaksOfLeaves) {
  check_a(R"([{"exists":true}])", {"1", "null", R"("")", "[1]"}, {"{}", R"({"b":1})", "[]"});
  check_a(R"([{"exists":false}])", {"{}", R"({"b":1})", "[]"}, {"1", "null", "[null]"});
  check({{on_a(R"([{"exists":false}])"), R"({"b":1})", true},
         {on_a(R"([{"exists":true}])"), R"({"b":1})", false},
         {on_a(R"([{"exists":false},"x"])"), R"({"a":"x"})", true},
         {on_a(R"([{"exists":false},"x"])"), R"({"a":"y"})", false},
         {R"({"body":{"a":{"b":[{"exists":false}]}}})", R"({"a":[]})", true},
         {R"({"body":{"a":{"b":[{"exists":false}]}}})", R"({"a":5})", true},
         {R"({"body":{"a":{"b":[{"exists":false}]}}})", R"({"a":{"b":1}})", false}});
}

TEST(Pattern, FindsAddressesInNetworks) {
  check_a(R"([{"cidr":"10.0.0.0/24"}])", {R"("10.0.0.255")"}, {R"("10.0.1.0")", R"("x")", "1"});
  check_a(R"([{"cidr":"10.0.0.0/30"}])", {R"("10.0.0.3")"}, {R"("10.0.0.4")"});
  check_a(R"([{"cidr":"2001:db8::/32"}])",
          {R"("2001:db8:1::1")"},
          {R"("2001:db9::1")", R"("1.2.3.4")"});
  check_a(R"([{"cidr":"0.0.0.0/0"}])", {R"("1.2.3.4")"}, {R"("::1")"});
}

TEST(Pattern, AllFieldsMustFitAndAnyAlternative) {
  check({{R"({"body":{"a":[1,2],"b":["x"]}})", R"({"a":2,"b":"x","c":0})", true},
         {R"({"body":{"a":[1,2],"b":["x"]}})", R"({"a":2,"b":"y"})", false},
         {R"({"body":{"a":[1,2],"b":["x"]}})", R"({"b":"x"})", false},
         {R"({"body":{"A":[1]}})", R"({"a":1})", false},
         {R"({"body":{"a":[1],"a":[2]}})", R"({"a":2})", true},
         {R"({"body":{"a":[1],"a":[2]}})", R"({"a":1})", false},
         {R"({"body":{"a":[2]}})", R"({"a":1,"a":2})", true}});
}

TEST(Pattern, DotsAreNesting) {
  check({{R"({"body":{"a.b":[1]}})", R"({"a":{"b":1}})", true},
         {R"({"body.a.b":[1]})", R"({"a":{"b":1}})", true},
         {R"({"body":{"a":{"b":[1]}}})", R"({"a.b":1})", true},
         {R"({"body":{"a":{"b":[1],"c":[2]}}})", R"({"a.b":1,"a":{"c":2}})", true},
         {R"({"body":{"a":{"b":[1],"c":[2]}}})", R"({"a.b":1,"a":{"c":3}})", false},
         {R"({"body":{"a":{"b":{"c":[1]}}}})", R"({"a":{"b.c":1}})", true},
         {R"({"body":{"a":{"b":[{"exists":false}]}}})", R"({"a.b":1})", false},
         {R"({"body":{"a":{"b":[1]}}})", R"({"ab":1})", false}});
}

TEST(Pattern, OneElementHasToHaveEverything) {
  const std::string both = R"({"body":{"items":{"sku":["x"],"n":[1]}}})";
  check({{both, R"({"items":[{"sku":"x","n":1}]})", true},
         {both, R"({"items":[{"sku":"y","n":1},{"sku":"x","n":1}]})", true},
         {both, R"({"items":[{"sku":"x","n":2},{"sku":"y","n":1}]})", false},
         {both, R"({"items":[[{"sku":"x","n":1}]]})", true},
         {both, R"({"items":["x",1]})", false},
         {R"({"body":{"a":["x"]}})", R"({"a":["y","x"]})", true},
         {R"({"body":{"a":["x"]}})", R"({"a":[["y"],["x"]]})", true},
         {R"({"body":{"a":["x"]}})", R"([{"a":"y"},{"a":"x"}])", true},
         {R"({"body":{"i":{"n":[1]},"$or":[{"i":{"s":["x"]}},{"o":[1]}]}})",
          R"({"i":[{"n":1,"s":"y"},{"n":2,"s":"x"}]})",
          false},
         {R"({"body":{"i":{"n":[1]},"$or":[{"i":{"s":["x"]}},{"o":[1]}]}})",
          R"({"i":[{"n":1,"s":"x"}]})",
          true}});
}

TEST(Pattern, OrNeedsTwoObjects) {
  const std::string either = R"({"body":{"s":[1],"$or":[{"a":[1]},{"b":[2],"c":[3]}]}})";
  check({{either, R"({"s":1,"a":1})", true},
         {either, R"({"s":1,"b":2,"c":3})", true},
         {either, R"({"s":1,"b":2})", false},
         {either, R"({"a":1})", false},
         {R"({"$or":[{"body":{"a":[1]}},{"body":{"b":[1]}}]})", R"({"b":1})", true},
         {R"({"body":{"$or":[{"a":[1]},{"$or":[{"b":[1]},{"c":[1]}]}]}})", R"({"c":1})", true},
         {R"({"body":{"a":["x","y"],"$or":[{"a":["y"]},{"b":[1]}]}})", R"({"a":"y"})", true},
         {R"({"body":{"a":["x"],"$or":[{"a":["y"]},{"b":[1]}]}})", R"({"a":"y"})", false},
         {R"({"body":{"$or":[1,2]}})", R"({"$or":2})", true},
         {R"({"body":{"$or":[{"prefix":"x"},{"prefix":"y"}]}})", R"({"$or":"yes"})", true}});
}

TEST(Pattern, BodiesHaveAFormat) {
  check({{R"({"body":["plain"]})", "plain", true},
         {R"({"body":["plain"]})", "plainer", false},
         {R"({"body":[{"prefix":"pl"}]})", "plain", true},
         {R"({"body":["42"]})", "42", true},
         {R"({"body":[42]})", "42", false},
         {R"({"body":{"a":[1]}})", "plain", false},
         {R"({"body":{"a":[{"exists":false}]}})", "plain", false},
         {R"({"body":["{}"]})", "{}", false},
         {R"({"body":[{"exists":true}]})", R"({"a":1})", false},
         {R"({"body":[{"exists":true}]})", "", true},
         {R"({"body":{"a":[1]}})", R"({"a":1)", false}});
}

TEST(Pattern, SeesTheRestOfTheRecord) {
  Record record;
  record.message_id = "id-1";
  record.body = R"({"a":1})";
  record.attributes = {{"ApproximateReceiveCount", "3"}};
  record.message_attributes = {{"kind", "String", "order"}};
  record.md5_of_body = "abc";
  EXPECT_TRUE(fits(R"({"messageId":["id-1"]})", record));
  EXPECT_TRUE(fits(R"({"attributes":{"ApproximateReceiveCount":["3"]},"body":{"a":[1]}})", record));
  EXPECT_FALSE(
      fits(R"({"attributes":{"ApproximateReceiveCount":["3"]},"body":{"a":[2]}})", record));
  EXPECT_TRUE(fits(R"({"messageAttributes":{"kind":{"stringValue":["order"]}}})", record));
  EXPECT_TRUE(fits(R"({"messageAttributes.kind.dataType":["String"]})", record));
  EXPECT_FALSE(fits(R"({"eventSource":[{"exists":true}]})", record));
  EXPECT_TRUE(fits(R"({"md5OfMessageAttributes":[""],"md5OfBody":["abc"]})", record));
}

TEST(Pattern, AnyOfSeveralSuffices) {
  Record record;
  record.body = "x";
  EXPECT_TRUE(any_matches({}, record));
  const std::vector patterns = {*parse_pattern(R"({"body":["y"]})"),
                                *parse_pattern(R"({"body":["x"]})")};
  EXPECT_TRUE(any_matches(patterns, record));
  record.body = "z";
  EXPECT_FALSE(any_matches(patterns, record));
}

TEST(ParsePattern, RefusesWhatIsNone) {
  const std::vector<std::string> broken = {
      "",
      "x",
      "null",
      "[]",
      "{}",
      "\"a\"",
      R"({"a":1})",
      R"({"a":"x"})",
      R"({"a":null})",
      R"({"a":[]})",
      R"({"a":{}})",
      R"({"a":[[1]]})",
      R"({"a":[{}]})",
      R"({"a":[{"EXISTS":true}]})",
      R"({"a":[{"exists":"true"}]})",
      R"({"a":[{"unknown":1}]})",
      R"({"a":[{"prefix":"x","suffix":"y"}]})",
      R"({"a":[{"prefix":1}]})",
      R"({"a":[{"prefix":["x"]}]})",
      R"({"a":[{"prefix":{"suffix":"x"}}]})",
      R"({"a":[{"equals-ignore-case":{"equals-ignore-case":"x"}}]})",
      R"({"a":[{"wildcard":"a**b"}]})",
      R"({"a":[{"wildcard":"a\\b"}]})",
      R"({"a":[{"wildcard":"a\\"}]})",
      R"({"a":[{"anything-but":[]}]})",
      R"({"a":[{"anything-but":["x",1]}]})",
      R"({"a":[{"anything-but":null}]})",
      R"({"a":[{"anything-but":[null]}]})",
      R"({"a":[{"anything-but":{"prefix":""}}]})",
      R"({"a":[{"anything-but":{"numeric":["=",1]}}]})",
      R"({"a":[{"anything-but":{"prefix":[]}}]})",
      R"({"a":[{"numeric":[]}]})",
      R"({"a":[{"numeric":[">"]}]})",
      R"({"a":[{"numeric":[">","1"]}]})",
      R"({"a":[{"numeric":["!",1]}]})",
      R"({"a":[{"numeric":[">",1,">",2]}]})",
      R"({"a":[{"numeric":["<",5,">",1]}]})",
      R"({"a":[{"numeric":[">",5,"<",1]}]})",
      R"({"a":[{"numeric":["=",1,"<",5]}]})",
      R"({"a":[{"numeric":[">",0,"<",5,"<",6]}]})",
      R"({"a":[{"cidr":"10.0.0.0"}]})",
      R"({"a":[{"cidr":"10.0.0.0/33"}]})",
      R"({"a":[{"cidr":1}]})",
      R"({"a":[1]} x)",
      R"({"a":[1])"};
  for (const std::string& text : broken) {
    SCOPED_TRACE(text);
    const auto parsed = parse_pattern(text);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().message, "Invalid filter pattern definition.");
  }
}

// Forty alternatives of two would be 2^40 combinations.
TEST(ParsePattern, BoundsWhatOrMultiplies) {
  std::string nested = R"("z":[1])";
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    nested =
        R"("$or":[{"a)" + n + R"(":[1]},{"b)" + n + R"(":[1]}],"x)" + n + R"(":{)" + nested + "}";
  }
  EXPECT_FALSE(parse_pattern("{" + nested + "}").has_value());
}

TEST(ParsePattern, BoundsSizeAndDepth) {
  std::string dots(300, '.');
  EXPECT_FALSE(parse_pattern("{\"" + dots + "\":[1]}").has_value());
  EXPECT_TRUE(parse_pattern("{\"" + dots.substr(0, 100) + "\":[1]}").has_value());
  EXPECT_FALSE(
      parse_pattern("{\"a\":[\"" + std::string(kPatternBytesMax, 'x') + "\"]}").has_value());
}

// Dotted names and arrays, built so that each element would be compared with all names.
TEST(Pattern, TakesNoLongerThanTheRecordIsLarge) {
  std::string body = R"({"a":[{"x":1})";
  for (int i = 0; i < 30'000; ++i) body += R"(,{"x":1})";
  body += "]";
  for (int i = 0; i < 30'000; ++i) body += fmt::format(R"(,"a.b{}":1)", i);
  body += "}";
  Record record;
  record.body = body;
  const std::clock_t before = std::clock();
  EXPECT_FALSE(fits(R"({"body":{"a":{"c":[1]}}})", record));
  EXPECT_LT(std::clock() - before, 20 * CLOCKS_PER_SEC);
  // A record of the same size in the usual form.
  const std::string usual = body.substr(0, body.find("]") + 1) + "}";
  record.body = usual;
  EXPECT_TRUE(fits(R"({"body":{"a":{"x":[1]}}})", record));
  EXPECT_FALSE(fits(R"({"body":{"a":{"x":[2]}}})", record));
}

}  // namespace
}  // namespace redrive::events
