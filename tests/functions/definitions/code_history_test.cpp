#include <gtest/gtest.h>

#include "base/text.h"
#include "functions/definitions/codec.h"
#include "functions/definitions/versions.h"

namespace redrive::functions {
namespace {

std::string sha(char digit) {
  return base64_encode(std::string(32, digit));
}

void deploy(Function& function, char digit, std::int64_t when) {
  function.code_sha256 = sha(digit);
  function.code_size = static_cast<std::uint64_t>(digit);
  function.handler = std::string("index.") + digit;
  note_code(function, Timestamp(when));
}

TEST(CodeHistory, KeepsTheLastFiveAndForgetsTheRest) {
  Function function{.id = {"000000000000", "us-east-1", "f"}, .runtime = "python3.11"};
  for (int i = 0; i < 7; ++i) deploy(function, static_cast<char>('a' + i), i);
  ASSERT_EQ(function.code_history.size(), kCodeKept);
  EXPECT_EQ(function.code_history.front().sha256, sha('c'));
  EXPECT_EQ(function.code_history.back().sha256, sha('g'));
  EXPECT_FALSE(code_of(function).contains(sha('b')));
  EXPECT_TRUE(code_of(function).contains(sha('c')));
  const auto read = decode_function(encode(function));
  ASSERT_TRUE(read);
  EXPECT_EQ(encode(*read), encode(function));
}

TEST(CodeHistory, TheSameCodeAgainIsNoDeploy) {
  Function function{.id = {"000000000000", "us-east-1", "f"}};
  function.code_sha256 = sha('a');
  EXPECT_TRUE(note_code(function, Timestamp(1)));
  function.handler = "other.handler";
  EXPECT_FALSE(note_code(function, Timestamp(2)));
  ASSERT_EQ(function.code_history.size(), 1u);
  EXPECT_EQ(function.code_history.front().deployed_wall, Timestamp(1));
  EXPECT_EQ(function.code_history.front().handler, "other.handler");
  deploy(function, 'b', 3);
  deploy(function, 'a', 4);  // Rolled back.
  ASSERT_EQ(function.code_history.size(), 2u);
  EXPECT_EQ(function.code_history.back().sha256, sha('a'));
  EXPECT_EQ(function.code_history.back().deployed_wall, Timestamp(4));
}

TEST(CodeHistory, CodeIsFoundByItsDigits) {
  Function function{.id = {"000000000000", "us-east-1", "f"}};
  deploy(function, 'a', 1);
  deploy(function, 'b', 2);
  function.timeout = std::chrono::seconds(9);
  const auto found = find_version(function, "@6161");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code_sha256, sha('a'));
  EXPECT_EQ(found->handler, "index.a");
  EXPECT_EQ(found->timeout, std::chrono::seconds(9));
  EXPECT_EQ(found->version, "@61616161");
  EXPECT_FALSE(find_version(function, "@6363"));
  EXPECT_FALSE(find_version(function, "@616"));  // Fewer than four digits are refused.
  EXPECT_FALSE(find_version(function, "@"));
  EXPECT_FALSE(is_code_qualifier("@61x1"));
}

// Digits that match two codes match none.
TEST(CodeHistory, AmbiguousDigitsFindNothing) {
  Function function{.id = {"000000000000", "us-east-1", "f"}};
  function.code_sha256 = base64_encode("aaaa" + std::string(28, 'x'));
  note_code(function, Timestamp(1));
  function.code_sha256 = base64_encode("aaaa" + std::string(28, 'y'));
  note_code(function, Timestamp(2));
  EXPECT_FALSE(find_version(function, "@61616161"));
  EXPECT_TRUE(find_version(function, "@6161616178"));
}

}  // namespace
}  // namespace redrive::functions
