#include "core/queue/group_names.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

namespace redrive::queue {
namespace {

TEST(GroupNames, ANameHasOneNumberUntilItIsDropped) {
  GroupNames names;
  EXPECT_EQ(names.number_for(""), 0u);
  EXPECT_EQ(names[0], "");
  const std::uint32_t a = names.number_for("a");
  const std::uint32_t b = names.number_for("b");
  EXPECT_NE(a, 0u);
  EXPECT_NE(a, b);
  EXPECT_EQ(names.number_for("a"), a);
  EXPECT_EQ(names[b], "b");
  EXPECT_EQ(names.size(), 2u);
  names.drop(a);
  EXPECT_EQ(names.size(), 1u);
  EXPECT_EQ(names.number_for("c"), a);  // Used again.
  EXPECT_EQ(names[a], "c");
  EXPECT_EQ(names.number_for("a"), 3u);
}

// As thousands come and go, in any order, it agrees with a map.
TEST(GroupNames, FindsEachOfMany) {
  std::mt19937 random(7);
  GroupNames names;
  std::map<std::string, std::uint32_t> expected;
  for (int step = 0; step < 50'000; ++step) {
    const std::string name = "group-" + std::to_string(random() % 3000);
    const auto found = expected.find(name);
    if (found != expected.end() && random() % 3 == 0) {
      names.drop(found->second);
      expected.erase(found);
      continue;
    }
    const std::uint32_t number = names.number_for(name);
    const auto [at, is_new] = expected.emplace(name, number);
    ASSERT_EQ(at->second, number);
    ASSERT_EQ(names[number], name);
  }
  ASSERT_EQ(names.size(), expected.size());
  std::set<std::uint32_t> numbers;
  for (const auto& [name, number] : expected) {
    EXPECT_EQ(names.number_for(name), number);
    EXPECT_LE(number, 3000u);
    EXPECT_TRUE(numbers.insert(number).second);
  }
}

}  // namespace
}  // namespace redrive::queue
