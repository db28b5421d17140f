#include <gtest/gtest.h>

#include "tests/dead_letters/dead_letter_world.h"

// Failure groups merged and split by hand.

namespace redrive::engine {
namespace {

struct GroupRules : DeadLetterWorld {
  using GroupId = queue::State::GroupId;

  // Two groups of "dead": three of Broken, two of Late.
  void make_groups() {
    make_dead(3, "a", {.type = "Broken"});
    make_dead(2, "b", {.type = "Late"});
    group();
  }
  void apply() {
    while (dead_letters().groups.apply_rules()) {
    }
  }
  const queue::FailureGroup& group_called(const std::string& title) {
    for (const auto& [key, group] : state().groups()) {
      if (group.identity.title.find(title) != std::string::npos) return group;
    }
    ADD_FAILURE() << "no group " << title;
    return state().groups().begin()->second;
  }
  GroupId id(const std::string& title) { return group_called(title).identity.id; }
};

TEST_F(GroupRules, AMergedGroupIsPartOfTheOtherForGood) {
  make_groups();
  ASSERT_TRUE(
      dead_letters().groups.merge(identity_of("dead"), id("Late"), id("Broken"), {.name = "ada"}));
  apply();
  EXPECT_EQ(group_called("Broken").count, 5u);
  EXPECT_EQ(group_called("Broken").arrivals.total, 5u);
  EXPECT_EQ(group_called("Late").count, 0u);
  expect_restart_changes_nothing();
  make_dead(1, "c", {.type = "Late"});
  group();
  EXPECT_EQ(group_called("Broken").count, 6u);
  EXPECT_EQ(group_called("Broken").arrivals.total, 6u);
}

TEST_F(GroupRules, ASplitTakesWhatTheFilterChooses) {
  make_groups();
  const auto split = dead_letters().groups.split(
      identity_of("dead"), id("Broken"), "body == 'a1'", "the odd one", {.name = "ada"});
  ASSERT_TRUE(split.has_value()) << split.error().message;
  apply();
  EXPECT_EQ(group_called("the odd one").count, 1u);
  EXPECT_EQ(group_called("the odd one").identity.id, split->group);
  EXPECT_EQ(group_called("Broken").count, 2u);
  make_dead(3, "a", {.type = "Broken"});
  group();
  EXPECT_EQ(group_called("the odd one").count, 2u);
  EXPECT_EQ(group_called("Broken").count, 4u);
  expect_restart_changes_nothing();
}

TEST_F(GroupRules, ARestartGoesOnWhereARuleWasNotApplied) {
  make_groups();
  ASSERT_TRUE(dead_letters().groups.merge(identity_of("dead"), id("Late"), id("Broken"), {}));
  world.restart();
  apply();
  EXPECT_EQ(group_called("Broken").count, 5u);
  EXPECT_EQ(group_called("Broken").arrivals.total, 5u);
}

TEST_F(GroupRules, AreAppliedInSlicesToTheLastLetter) {
  make_dead(2, "b", {.type = "Broken"});
  make_dead(600, "a", {.type = "Late"});
  group();
  const queue::State::GroupId late = id("Late");
  ASSERT_TRUE(dead_letters().groups.merge(identity_of("dead"), late, id("Broken"), {}));
  ASSERT_TRUE(dead_letters().groups.apply_rules());
  EXPECT_LT(group_called("Broken").count, 602u);
  EXPECT_GT(group_called("Broken").count, 2u);
  world.restart();  // The place of the next slice is forgotten, not the rule.
  apply();
  EXPECT_EQ(group_called("Broken").count, 602u);
  EXPECT_EQ(group_called("Broken").arrivals.total, 602u);
}

TEST_F(GroupRules, ARemovedRuleIsOver) {
  make_groups();
  const auto rule = dead_letters().groups.merge(identity_of("dead"), id("Late"), id("Broken"), {});
  apply();
  ASSERT_TRUE(dead_letters().groups.remove_rule(identity_of("dead"), *rule));
  make_dead(1, "c", {.type = "Late"});
  group();
  EXPECT_EQ(group_called("Broken").count, 5u);
  EXPECT_EQ(group_called("Late").count, 1u);
  EXPECT_FALSE(dead_letters().groups.remove_rule(identity_of("dead"), *rule));
}

TEST_F(GroupRules, BadOnesAreRefused) {
  make_groups();
  const auto dead = identity_of("dead");
  EXPECT_FALSE(dead_letters().groups.merge(dead, id("Late"), id("Late"), {}));
  EXPECT_FALSE(dead_letters().groups.merge(dead, id("Late"), {}, {}));
  EXPECT_FALSE(dead_letters().groups.split(dead, id("Late"), "no such thing (", "", {}));
  EXPECT_FALSE(dead_letters().groups.split(dead, id("Late"), "", "", {}));
}

}  // namespace
}  // namespace redrive::engine
