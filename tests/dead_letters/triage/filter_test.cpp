#include "dead_letters/triage/filter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/calendar.h"
#include "dead_letters/triage/filter_text.h"
#include "dead_letters/triage/json_document.h"
#include "dead_letters/triage/rank.h"

namespace redrive::triage {
namespace {

using testing::HasSubstr;

constexpr const char* kBody =
    R"({"order":{"id":17,"total":9.5,"items":[{"sku":"a1","n":1},{"sku":"b2","n":null}],)"
    R"("gift":true,"note":"it's \"here\""},"a b":"x","big":9007199254740993,"none":null,"":1})";

Subject subject() {
  static const AttributeView kAttributes[] = {
      {"store_id", "Number", "3"},
      {"region", "String", "eu-west"},
      {"odd.name-1", "String.custom", ""},
  };
  return {.body = kBody,
          .attributes = kAttributes,
          .message_id = "m-1",
          .lineage_id = "l-1",
          .group_id = "0123",
          .error_type = "KeyError",
          .error_message = "'store_id'",
          .source_queue = "orders",
          .sent = *parse_utc("2026-01-31T10:00:00Z"),
          .receive_count = 3,
          .redrive_count = 1};
}

TEST(Filter, PicksMessages) {
  const std::pair<const char*, bool> cases[] = {
      {"body.$.order.id == 17", true},
      {"$.order.id == 17", true},
      {"body.$.order.id == 17.0", true},
      {"body.$.order.id == 18", false},
      {"body.$.order.id == \"17\"", false},
      {"body.$.order.id != 18", true},
      {"body.$.order.id > 16.5", true},
      {"body.$.order.id <= 16", false},
      {"body.$.order.total < 10", true},
      {"body.$.big == 9007199254740993", true},
      {"body.$.big == 9007199254740992", false},
      {"body.$.order.items[0].sku == 'a1'", true},
      {"body.$.order.items[2].sku present", false},
      {"body.$.order.items[*].sku == \"b2\"", true},
      {"body.$.order.items[*].sku == \"c3\"", false},
      {"body.$.order.items[*].sku != \"b2\"", false},
      {"body.$.order.items[*].n == null", true},
      {"body.$.order.gift == true", true},
      {"body.$.order.gift == false", false},
      {"body.$.order.gift > false", false},
      {"body.$.order.note contains \"here\"", true},
      {"body.$.order.note == \"it's \\\"here\\\"\"", true},
      {"body.$['a b'] == 'x'", true},
      {"body.$[\"a b\"] startswith 'x'", true},
      {"body.$.none == null", true},
      {"body.$.none present", true},
      {"body.$.nothing missing", true},
      {"body.$.nothing == null", false},
      {"body.$.nothing != 1", true},
      {"body.$.nothing < 1", false},
      {"body.$ is object", true},
      {"body.$ missing", false},
      {"body.$[''] == 1", true},
      {"body.$.order.id is number", true},
      {"body.$.order.id is string", false},
      {"body.$.order.items is array", true},
      {"body.$.none is null", true},
      {"body contains \"\\\"sku\\\":\\\"a1\\\"\"", true},
      {"body contains \"nowhere\"", false},
      {"body like \"*gift*\"", true},
      {"attribute.store_id missing", false},
      {"attribute.store_id == \"3\"", true},
      {"attribute.store_id == 3", true},
      {"attribute.store_id >= 3.5", false},
      {"attribute.store_id is \"Number\"", true},
      {"attribute.other missing", true},
      {"attribute.other == \"3\"", false},
      {"attribute.region startswith \"eu\"", true},
      {"attribute.region == 3", false},
      {"attribute.region like \"e?-w*t\"", true},
      {"attribute.odd.name-1 present", true},
      {"attribute[\"odd.name-1\"] == \"\"", true},
      {"error.type == \"KeyError\"", true},
      {"error.type != \"KeyError\"", false},
      {"error.message contains \"store\"", true},
      {"group == \"0123\"", true},
      {"message_group missing", true},
      {"message_group == \"\"", false},
      {"message_id == \"m-1\"", true},
      {"lineage == \"l-1\"", true},
      {"source == \"orders\"", true},
      {"sent > 2026-01-01T00:00:00Z", true},
      {"sent >= 2026-01-31", true},
      {"sent > \"2026-01-31T10:00:00Z\"", false},
      {"sent == 2026-01-31T10:00:00Z", true},
      {"received >= 3", true},
      {"received > 3", false},
      {"redriven == 1", true},
      {"size > 10", true},
      {"size < 10", false},
      {"not received > 3", true},
      {"not not received > 3", false},
      {"received > 9 or received == 3", true},
      {"received == 3 and redriven == 2", false},
      {"received == 3 or received == 9 and redriven == 9", true},
      {"(received == 3 or received == 9) and redriven == 9", false},
      {"not (received == 3 and redriven == 9)", true},
      {"NOT received==9 AND(redriven==1)", true},
      {"  received\n>= 1  ", true},
  };
  for (const auto& [text, expected] : cases) {
    const auto filter = Filter::parse(text);
    ASSERT_TRUE(filter.has_value()) << text << ": " << filter.error().message;
    EXPECT_EQ(filter->matches(subject()), expected) << text;
    EXPECT_EQ(filter->text(), text);
  }
}

TEST(Filter, AsksNothingOfABodyThatIsNotJson) {
  Subject plain = subject();
  plain.body = "plain";
  EXPECT_FALSE(Filter::parse("body.$.a == 1")->matches(plain));
  EXPECT_TRUE(Filter::parse("body.$ missing")->matches(plain));
  EXPECT_TRUE(Filter::parse("body == \"plain\"")->matches(plain));
  plain.body = "";
  EXPECT_TRUE(Filter::parse("body missing and body == ''")->matches(plain));
}

TEST(Filter, SaysWhereItIsWrongAndWhatWasExpected) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"", "At position 1: expected body"},
      {"frogs == 1", "At position 1: expected body"},
      {"received", "At position 9: expected ==, !="},
      {"received = 3", "At position 10: expected ==, !="},
      {"received == ", "At position 13: expected a number, found the end"},
      {"received == \"3\"", "At position 13: expected a number"},
      {"received == 3x", "At position 13: expected a number"},
      {"received contains \"3\"", "numbers and times"},
      {"received is number", "expected a path or an attribute before is"},
      {"received == 3 frogs",
       "At position 15: expected \"and\", \"or\" or the end, found \"frogs\""},
      {"received == 3 and", "At position 18: expected body"},
      {"(received == 3", "At position 15: expected \")\""},
      {"received == 3)", "At position 14: expected \"and\""},
      {"body contains text", "At position 15: expected a text in quotes, found \"text\""},
      {"body == \"open", "At position 9: the quote is not closed."},
      {"body == 3", "At position 9: expected a text in quotes"},
      {"body.$. == 1", "At position 8: a key must follow"},
      {"body.$[x] == 1", "At position 8: brackets must contain"},
      {"body.$[0 == 1", "At position 9: the bracket is not closed."},
      {"body.$[99999999999] == 1", "At position 8: brackets must contain"},
      {"body.$.a is frog", "At position 13: expected object, array"},
      {"body.$.a == nan", "At position 13: expected a text in quotes, a number"},
      {"body.$.a == 1e999", "At position 13"},
      {"attribute == 1", "\".\" and the attribute's name"},
      {"attribute. == 1", "the attribute's name"},
      {"attribute[x]", "the attribute's name in quotes"},
      {"attribute['x' == 1", "expected \"]\""},
      {"error.frog == 'x'", "error.type or error.message"},
      {"sent > yesterday", "At position 8: expected a time such as"},
      {"sent > 2026-13-01T00:00:00Z", "At position 8: expected a time such as"},
      {"sent contains \"2026\"", "numbers and times"},
  };
  for (const auto& one : cases) {
    const auto filter = Filter::parse(one.text);
    ASSERT_FALSE(filter.has_value()) << one.text;
    EXPECT_THAT(filter.error().message, HasSubstr(one.says)) << one.text;
    EXPECT_EQ(filter.error().code, ErrorCode::invalid_parameter_value);
  }
}

std::string repeat(std::string_view part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

TEST(Filter, IsBounded) {
  const std::string condition = "size>1";
  EXPECT_TRUE(Filter::parse(repeat("(", 31) + condition + repeat(")", 31)).has_value());
  EXPECT_FALSE(Filter::parse(repeat("(", 32) + condition + repeat(")", 32)).has_value());
  EXPECT_FALSE(Filter::parse(repeat("not ", 1000) + condition).has_value());
  EXPECT_TRUE(Filter::parse(repeat("size>1 or ", 63) + condition).has_value());
  EXPECT_FALSE(Filter::parse(repeat("size>1 or ", 64) + condition).has_value());
  EXPECT_FALSE(Filter::parse(condition + std::string(Filter::kTextBytesMax, ' ')).has_value());
  EXPECT_TRUE(Filter::parse("$" + repeat(".a", 16) + " missing").has_value());
  EXPECT_FALSE(Filter::parse("$" + repeat(".a", 17) + " missing").has_value());
}

TEST(Filter, BearsAnyText) {
  const char* const kParts[] = {
      "body",
      ".$",
      ".a",
      "[0]",
      "[*]",
      "['x']",
      "attribute",
      ".store_id",
      "error",
      ".type",
      "sent",
      "==",
      "!=",
      "<=",
      "(",
      ")",
      "not ",
      " and ",
      " or ",
      "\"",
      "'",
      "3",
      "-",
      "\\",
      "is",
      " ",
      "2026-01-31",
      "null",
      "true",
      "\xff",
      "like",
      "missing",
      "contains",
      "size",
      "size > 3",
      "$.a == 'x'",
      "attribute.region missing",
      "sent > 2026-01-31",
      "body.$[*] is string",
  };
  std::mt19937 random(11);
  int parsed = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string text;
    for (unsigned k = random() % 9; k-- > 0;) {
      text += kParts[random() % std::size(kParts)];
      if (random() % 2 == 0) text += ' ';
    }
    const auto filter = Filter::parse(text);
    if (!filter) continue;
    ++parsed;
    filter->matches(subject());
    filter->matches({});
  }
  EXPECT_GT(parsed, 100);  // Many were accepted.
}

// The filters generated for distinctions select what they describe.
TEST(Filter, ReadsWhatDistinctionsWrite) {
  const char* const bodies[] = {
      "{\"k\\\"1\":{\"a-b\":\"x\\n\\\\'\"}}", "hello", "[{\"z\":-2.5e30}]"};
  for (const char* body : bodies) {
    FeatureCounts dead;
    FeatureCounts processed;
    const AttributeView usual[] = {{"a.b", "Number", "1"}};
    const AttributeView odd[] = {{"a.b", "String", "\"q\\"}};
    for (int i = 0; i < 50; ++i) {
      dead.add({.body = body, .attributes = odd});
      processed.add({.body = R"({"k\"1":{"a-b":"y"},"m":[1]})", .attributes = usual});
    }
    const auto found = rank(dead, processed, 20);
    EXPECT_FALSE(found.empty());
    for (const Distinction& one : found) {
      if (one.filter.empty()) continue;
      const auto filter = Filter::parse(one.filter);
      ASSERT_TRUE(filter.has_value()) << one.filter;
      EXPECT_TRUE(filter->matches({.body = body, .attributes = odd})) << one.filter;
      EXPECT_FALSE(
          filter->matches({.body = R"({"k\"1":{"a-b":"y"},"m":[1]})", .attributes = usual}))
          << one.filter;
    }
  }
  const std::string text = "a\"b\\c\n\t\r'";
  EXPECT_TRUE(Filter::parse("source == " + filter_literal(text))->matches({.source_queue = text}));
}

TEST(JsonPath, IsReadWhole) {
  EXPECT_EQ(JsonPath::parse("$.a['b c'][3][*]")->steps().size(), 4u);
  EXPECT_TRUE(*JsonPath::parse("$.a") == *JsonPath::parse("$['a']"));
  EXPECT_EQ(JsonPath::parse("$")->steps().size(), 0u);
  for (const char* text :
       {"", "a", "$a", "$.", "$..a", "$[", "$[]", "$['a", "$['a'", "$[-1]", "$.a ", "$.a b"}) {
    EXPECT_FALSE(JsonPath::parse(text).has_value()) << text;
  }
}

TEST(JsonPath, FindsEveryValueItLeadsTo) {
  const JsonDocument document(R"({"a":[{"b":1},{"b":2},{"c":3}],"o":{"x":{"b":4},"y":{"b":5}}})");
  const std::pair<const char*, std::size_t> cases[] = {
      {"$.a[*].b", 2},
      {"$.a[*]", 3},
      {"$.o[*].b", 2},
      {"$[*][*].b", 4},
      {"$.a[1].b", 1},
      {"$.a[3]", 0},
      {"$.a.b", 0},
      {"$.o[0]", 0},
      {"$", 1},
  };
  for (const auto& [path, count] : cases) {
    EXPECT_EQ(JsonPath::parse(path)->find(document).size(), count) << path;
  }
}

}  // namespace
}  // namespace redrive::triage
