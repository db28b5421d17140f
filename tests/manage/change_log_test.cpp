#include "manage/change_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace redrive::manage {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr ChangeLog::Topics kAllTopics = {true, true, true, true, true};
constexpr ChangeLog::Topics kJobsOnly = {false, false, true, false, false};

ChangeRow change_row(const std::string& key, const std::string& version) {
  return {key, version, "{\"" + key + "\":" + version + "}"};
}

class ChangeLogTest : public testing::Test {
 protected:
  // Queues and jobs, as key and version.
  using Rows = std::vector<std::pair<std::string, std::string>>;
  void see(const Rows& queues, const Rows& jobs = {}) {
    ChangeRows rows;
    for (const auto& [key, version] : queues) rows[0].push_back(change_row(key, version));
    for (const auto& [key, version] : jobs) rows[2].push_back(change_row(key, version));
    log_.update(std::move(rows));
  }
  std::string next(const ChangeLog::Topics& topics = kAllTopics) {
    std::string answer = log_.answer(cursor_, topics);
    const std::size_t begin = answer.find("\"cursor\":\"") + 10;
    cursor_ = answer.substr(begin, answer.find('"', begin) - begin);
    return answer;
  }

  ChangeLog log_{"e"};
  std::string cursor_;
};

TEST_F(ChangeLogTest, FirstAnswerHasEverything) {
  see({{"a", "1"}, {"b", "1"}}, {{"j", "1"}});
  EXPECT_EQ(
      next(),
      R"("cursor":"e-3","reset":true,"queues":[{"a":1},{"b":1}],"groups":[],"jobs":[{"j":1}],"alarms":[],"handlers":[])");
}

TEST_F(ChangeLogTest, LaterAnswersHaveWhatChanged) {
  see({{"a", "1"}, {"b", "1"}});
  (void)next();
  EXPECT_FALSE(log_.has_news(cursor_, kAllTopics));
  see({{"a", "1"}, {"b", "1"}});
  EXPECT_FALSE(log_.has_news(cursor_, kAllTopics));
  see({{"a", "1"}, {"b", "2"}, {"c", "1"}});
  EXPECT_TRUE(log_.has_news(cursor_, kAllTopics));
  EXPECT_EQ(next(), R"("cursor":"e-4","queues":[{"b":2},{"c":1}])");
  EXPECT_FALSE(log_.has_news(cursor_, kAllTopics));
  EXPECT_EQ(next(), R"("cursor":"e-4")");
}

TEST_F(ChangeLogTest, RowsThatAreGoneAreNamed) {
  see({{"a", "1"}, {"b", "1"}});
  (void)next();
  see({{"b", "1"}});
  EXPECT_EQ(next(), R"("cursor":"e-3","gone":{"queues":["a"]})");
  see({{"a", "1"}, {"b", "1"}});
  EXPECT_EQ(next(), R"("cursor":"e-4","queues":[{"a":1}])") << "it came back";
}

TEST_F(ChangeLogTest, OnlyTheTopicsAskedFor) {
  see({{"a", "1"}}, {{"j", "1"}});
  EXPECT_EQ(next(kJobsOnly), R"("cursor":"e-2","reset":true,"jobs":[{"j":1}])");
  see({{"a", "2"}}, {{"j", "1"}});
  EXPECT_FALSE(log_.has_news(cursor_, kJobsOnly));
  EXPECT_TRUE(log_.has_news(cursor_, kAllTopics));
}

TEST_F(ChangeLogTest, UnknownCursorsGetEverything) {
  see({{"a", "1"}});
  for (const char* cursor : {"", "x", "other-1", "e-2", "e-", "e-x", "-1"}) {
    SCOPED_TRACE(cursor);
    EXPECT_TRUE(log_.has_news(cursor, kAllTopics));
    EXPECT_THAT(log_.answer(cursor, kAllTopics), HasSubstr(R"("reset":true)"));
  }
}

TEST_F(ChangeLogTest, CursorThatIsTooOldGetsEverything) {
  see({{"a", "1"}});
  (void)next();
  const std::string old = cursor_;
  for (std::size_t i = 0; i <= ChangeLog::kGoneMax; ++i) {
    see({{"a", "1"}, {"t" + std::to_string(i), "1"}});
    if (i < ChangeLog::kGoneMax) EXPECT_THAT(log_.answer(old, kAllTopics), Not(HasSubstr("reset")));
  }
  see({{"a", "1"}});
  EXPECT_THAT(log_.answer(old, kAllTopics), HasSubstr(R"("reset":true)"));
  EXPECT_THAT(log_.answer(old, kAllTopics), Not(HasSubstr("gone")));
}

TEST_F(ChangeLogTest, LongAnswersAreContinued) {
  Rows rows;
  for (int i = 0; i < 5000; ++i) rows.emplace_back("queue-" + std::to_string(10'000 + i), "1");
  see(rows);
  EXPECT_GT(next().size(), ChangeLog::kAnswerBytesMax) << "a reset has all rows";
  for (auto& [key, version] : rows) version = "1000000000000000000000";
  see(rows);
  std::size_t seen = 0;
  int answers = 0;
  while (log_.has_news(cursor_, kAllTopics)) {
    const std::string answer = next();
    EXPECT_LT(answer.size(), ChangeLog::kAnswerBytesMax + 200);
    for (std::size_t at = 0; (at = answer.find("{\"queue-", at)) != answer.npos; ++at) ++seen;
    ++answers;
  }
  EXPECT_EQ(seen, rows.size()) << "each once";
  EXPECT_GT(answers, 1);
}

}  // namespace
}  // namespace redrive::manage
