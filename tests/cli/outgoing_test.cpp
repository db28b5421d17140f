#include "cli/client/outgoing.h"

#include <gtest/gtest.h>

#include "tests/cli/fake_environment.h"

namespace redrive::cli {
namespace {

TEST(ParseAttribute, ReadsNameTypeAndValue) {
  FakeEnvironment environment;
  environment.files["pixel.png"] = std::string("\x89PNG\0", 5);
  const struct {
    const char* text;
    OutgoingAttribute expected;
  } cases[] = {
      {"color=blue", {"color", "String", "blue"}},
      {"n:Number=5", {"n", "Number", "5"}},
      {"n:Number.int=5", {"n", "Number.int", "5"}},
      {"b:Binary=raw", {"b", "Binary", "raw"}},
      {"b:Binary.png=@pixel.png", {"b", "Binary.png", std::string("\x89PNG\0", 5)}},
      {"mail=@home", {"mail", "String", "@home"}},
      {"eq=a=b:c", {"eq", "String", "a=b:c"}},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.text);
    EXPECT_EQ(parse_attribute(test.text, environment), test.expected);
  }
}

TEST(ParseAttribute, RefusesTheRest) {
  FakeEnvironment environment;
  for (const char* text :
       {"", "noequals", "=v", "a:Text=1", ":String=1", "a:=1", "b:Binary=@none"}) {
    SCOPED_TRACE(text);
    const auto parsed = parse_attribute(text, environment);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().kind, Failure::Kind::usage);
  }
}

TEST(ParseMessageLine, ReadsEveryMember) {
  const auto message = parse_message_line(
      R"({"Body":"h\u00e9","MessageAttributes":{"n":{"DataType":"Number","StringValue":"5"},)"
      R"("b":{"DataType":"Binary","BinaryValue":"AAH/"}},"MessageGroupId":"g",)"
      R"("MessageDeduplicationId":"d","DelaySeconds":7})");
  const OutgoingMessage expected{
      .body = "hé",
      .attributes = {{"n", "Number", "5"}, {"b", "Binary", std::string("\0\1\xff", 3)}},
      .group = "g",
      .deduplication = "d",
      .delay_seconds = 7};
  EXPECT_EQ(message, expected);
}

// `receive --json` on one side of a pipe, `send --ndjson` on the other.
TEST(ParseMessageLine, ReadsWhatReceivePrints) {
  const auto message = parse_message_line(
      R"({"MessageId":"x","ReceiptHandle":"y","Body":"b","Attributes":{"SentTimestamp":"1",)"
      R"("MessageGroupId":"g"}})");
  EXPECT_EQ(message, (OutgoingMessage{.body = "b", .group = "g"}));
}

TEST(ParseMessageLine, RefusesTheRest) {
  for (const char* line :
       {"",
        "text",
        "[]",
        "{}",
        R"({"Body":5})",
        R"({"Body":"b","MessageGroupId":1})",
        R"({"Body":"b","DelaySeconds":901})",
        R"({"Body":"b","MessageAttributes":[]})",
        R"({"Body":"b","MessageAttributes":{"a":"x"}})",
        R"({"Body":"b","MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"*"}}})"}) {
    SCOPED_TRACE(line);
    const auto parsed = parse_message_line(line);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().kind, Failure::Kind::usage);
  }
}

}  // namespace
}  // namespace redrive::cli
