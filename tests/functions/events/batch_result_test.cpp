#include "functions/events/batch_result.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace redrive::events {
namespace {

constexpr std::string_view kIds[] = {"a", "b", "c"};

// One letter per message: F failed, s succeeded.
std::string verdict(std::string_view response) {
  const BatchResult result = judge_batch(response, kIds);
  std::string letters;
  for (const bool failed : result.failed) letters += failed ? 'F' : 's';
  // A fault is set only for invalid responses.
  return letters + (result.fault.empty() ? "" : "!");
}

std::string items(const std::string& list) {
  return R"({"batchItemFailures":)" + list + "}";
}

TEST(JudgeBatch, EmptyAnswersMeanSuccess) {
  for (const char* response : {"",
                               "null",
                               R"("")",
                               "[]",
                               "{}",
                               R"({"other":1})",
                               "false",
                               "0",
                               R"({"batchItemFailures":[]})",
                               R"({"batchItemFailures":null})",
                               R"({"statusCode":200,"body":"ok"})"}) {
    EXPECT_EQ(verdict(response), "sss") << response;
  }
}

TEST(JudgeBatch, NamedMessagesFail) {
  EXPECT_EQ(verdict(items(R"([{"itemIdentifier":"b"}])")), "sFs");
  EXPECT_EQ(verdict(items(R"([{"itemIdentifier":"c"},{"itemIdentifier":"a","more":1}])")), "FsF");
  EXPECT_EQ(verdict(items(R"([{"itemIdentifier":"b"},{"itemIdentifier":"b"}])")), "sFs");
  EXPECT_EQ(
      verdict(items(R"([{"itemIdentifier":"a"},{"itemIdentifier":"b"},{"itemIdentifier":"c"}])")),
      "FFF");
}

TEST(JudgeBatch, WhatNamesNoMessageFailsTheBatch) {
  const std::string good = R"({"itemIdentifier":"a"})";
  for (const char* element : {R"({"itemIdentifier":""})",
                              R"({"itemIdentifier":null})",
                              R"({"itemIdentifier":1})",
                              R"({"foo":"a"})",
                              R"({"foo":null})",
                              "{}",
                              R"({"itemIdentifier":"d"})",
                              R"({"itemIdentifier":"A"})",
                              R"("a")",
                              "null",
                              "[]"}) {
    SCOPED_TRACE(element);
    EXPECT_EQ(verdict(items("[" + good + "," + element + "]")), "FFF!");
    EXPECT_EQ(verdict(items("[" + std::string(element) + "," + good + "]")), "FFF!");
  }
}

TEST(JudgeBatch, WhatIsNoAnswerFailsTheBatch) {
  for (const std::string& response : {std::string("nonsense"),
                                      std::string("{"),
                                      std::string(R"("text")"),
                                      std::string("7"),
                                      std::string("[1]"),
                                      items(R"("a")"),
                                      items("1"),
                                      items("true"),
                                      items(R"({"a":1})")}) {
    EXPECT_EQ(verdict(response), "FFF!") << response;
  }
}

TEST(BatchResult, Counts) {
  EXPECT_TRUE(judge_whole_batch(2, true).all_succeeded());
  EXPECT_EQ(judge_whole_batch(2, false).failures(), 2u);
}

}  // namespace
}  // namespace redrive::events
