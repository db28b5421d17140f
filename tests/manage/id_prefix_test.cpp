#include "manage/id_prefix.h"

#include <gtest/gtest.h>

namespace redrive::manage {
namespace {

TEST(IdPrefix, HasAtLeastFourCharacters) {
  EXPECT_TRUE(is_id_prefix("bea4"));
  EXPECT_TRUE(is_id_prefix("BEA493d3-c3"));
  EXPECT_FALSE(is_id_prefix("bea"));
  EXPECT_FALSE(is_id_prefix("order"));
  EXPECT_FALSE(is_id_prefix(""));
}

TEST(IdPrefix, MatchesInEitherCase) {
  EXPECT_TRUE(has_id_prefix("bea493d3", "BEA4"));
  EXPECT_TRUE(has_id_prefix("bea4", "bea4"));
  EXPECT_FALSE(has_id_prefix("bea4", "bea49"));
  EXPECT_FALSE(has_id_prefix("bea5", "bea4"));
}

TEST(IdPrefix, AnAmbiguousOneListsTheCandidates) {
  const std::vector<std::string> two = {"bea41", "bea42"};
  EXPECT_EQ(ambiguous("jobs", "bea4", two).error().message,
            "bea4 is ambiguous: 2 jobs match: bea41, bea42");
  const std::vector<std::string> many(12, "bea4");
  EXPECT_TRUE(ambiguous("jobs", "bea4", many).error().message.ends_with(", ..."));
}

}  // namespace
}  // namespace redrive::manage
