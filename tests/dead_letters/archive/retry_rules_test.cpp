#include "dead_letters/archive/retry_rules.h"

#include <gtest/gtest.h>

namespace redrive::archive {
namespace {

Letter letter_with(std::string count) {
  return {.message_id = "m",
          .body = "b",
          .attributes = {{"colour", "String", "blue"}, {"retryCount", "Number", std::move(count)}}};
}

TEST(RetryRules, AMessageComesBackUntilItsCountIsSpent) {
  const RetryRules rules{.retries_max = 2};
  Letter letter{.message_id = "m", .body = "b", .attributes = {{"colour", "String", "blue"}}};
  for (const char* expected : {"1", "2", "3"}) {
    const RetryDecision decision = decide_retry(letter, rules);
    ASSERT_EQ(decision.fate, Fate::retry);
    EXPECT_EQ(*decision.letter.attribute("retryCount"),
              (LetterAttribute{"retryCount", "Number", expected}));
    EXPECT_EQ(decision.letter.attribute("colour")->value, "blue");
    letter = decision.letter;
  }
  const RetryDecision last = decide_retry(letter, rules);
  EXPECT_EQ(last.fate, Fate::archive);
  EXPECT_EQ(last.carried, 3);
  EXPECT_EQ(last.letter.attribute("retryCount")->value, "4");
}

TEST(RetryRules, ACounterThatIsNoneStartsAnew) {
  for (const char* text : {"often", "", "-1", "1.5", "99999999999999999999", "2 "}) {
    const RetryDecision decision = decide_retry(letter_with(text), {.retries_max = 0});
    EXPECT_EQ(decision.fate, Fate::retry) << text;
    EXPECT_TRUE(decision.counter_was_unreadable) << text;
    EXPECT_EQ(decision.letter.attribute("retryCount")->value, "1");
    EXPECT_EQ(decision.letter.attributes.size(), 2u);
  }
  EXPECT_FALSE(decide_retry(letter_with("7"), {}).counter_was_unreadable);
  Letter binary = letter_with("2");
  binary.attributes[1].data_type = "Binary";
  EXPECT_TRUE(decide_retry(binary, {}).counter_was_unreadable);
}

TEST(RetryRules, WithTenAttributesTheCountGoesIntoTheTraceHeader) {
  Letter letter{.message_id = "m", .body = "b"};
  for (int i = 0; i < 10; ++i) {
    letter.attributes.push_back({"a" + std::to_string(i), "String", "v"});
  }
  letter.system_attributes = {{"AWSTraceHeader", "Root=1-2-3;Sampled=1"}};
  RetryDecision decision = decide_retry(letter, {.retries_max = 1});
  EXPECT_EQ(decision.letter.attributes.size(), 10u);
  EXPECT_EQ(decision.trace, "Root=1-2-3;Sampled=1;Redrive-Retry=1");
  letter.system_attributes = {{"AWSTraceHeader", *decision.trace}};
  decision = decide_retry(letter, {.retries_max = 1});
  EXPECT_EQ(decision.trace, "Root=1-2-3;Sampled=1;Redrive-Retry=2");
  letter.system_attributes = {{"AWSTraceHeader", *decision.trace}};
  EXPECT_EQ(decide_retry(letter, {.retries_max = 1}).fate, Fate::archive);
}

TEST(RetryRules, DelaysDoubleUpToWhatSqsAllows) {
  const RetryRules rules{.retries_max = 100, .backoff_seconds = 30};
  EXPECT_EQ(decide_retry({}, rules).delay_seconds, 30);
  EXPECT_EQ(decide_retry(letter_with("1"), rules).delay_seconds, 60);
  EXPECT_EQ(decide_retry(letter_with("4"), rules).delay_seconds, 480);
  EXPECT_EQ(decide_retry(letter_with("5"), rules).delay_seconds, 900);
  EXPECT_EQ(decide_retry(letter_with("99"), rules).delay_seconds, 900);
  EXPECT_EQ(decide_retry(letter_with("5"), {}).delay_seconds, 0);
}

TEST(RetryRules, EachReturnHasADeduplicationIdOfItsOwn) {
  EXPECT_EQ(retry_deduplication_id("m", 1), retry_deduplication_id("m", 1));
  EXPECT_NE(retry_deduplication_id("m", 1), retry_deduplication_id("m", 2));
  EXPECT_NE(retry_deduplication_id("m", 1), retry_deduplication_id("n", 1));
}

}  // namespace
}  // namespace redrive::archive
