#include "stack/plan.h"

#include <gtest/gtest.h>

namespace redrive::stack {
namespace {

const Tags kOurs{{"redrive:stack", "shop"}};

Resource queue(std::string name, std::string_view properties = "{}", Tags tags = {}) {
  return {.kind = Kind::queue,
          .id = name,
          .name = std::move(name),
          .properties = *read_json(properties),
          .tags = std::move(tags),
          .code = {}};
}

Actual existing(std::string name, std::string_view properties = "{}", Tags tags = kOurs) {
  return {.kind = Kind::queue,
          .name = std::move(name),
          .handle = "url",
          .properties = *read_json(properties),
          .tags = std::move(tags)};
}

// Sign, title and differences: "~ queue a VisibilityTimeout".
std::string shown(const Stack& stack, const std::vector<Actual>& there, Prune prune = Prune::no) {
  const auto plan = make_plan(stack, there, prune);
  if (!plan) return plan.error().message;
  std::string out;
  for (const PlanItem& item : *plan) {
    constexpr std::string_view kSigns = "+~=-?";
    out += kSigns[static_cast<std::size_t>(item.step)];
    out += " " + item.title;
    for (const Difference& difference : item.differences) out += " " + difference.property;
    out += "\n";
  }
  return out;
}

TEST(Plan, MakesWhatIsMissingAndKeepsWhatFits) {
  const Stack stack{"shop", {queue("new"), queue("old", R"({"DelaySeconds":"5"})")}, {}};
  EXPECT_EQ(shown(stack, {existing("old", R"({"DelaySeconds":"5","QueueArn":"x"})")}),
            "+ queue new\n= queue old\n");
  const auto plan = make_plan(stack, {}, Prune::no);
  EXPECT_EQ((*plan)[0].tags, kOurs);
}

TEST(Plan, DocumentsAreComparedByMeaning) {
  const Stack stack{"shop", {queue("q", R"({"RedrivePolicy":"{\"a\":1,\"b\":\"x\"}"})")}, {}};
  EXPECT_EQ(shown(stack, {existing("q", R"({"RedrivePolicy":"{\"b\": \"x\", \"a\": \"1\"}"})")}),
            "= queue q\n");
  EXPECT_EQ(shown(stack, {existing("q", R"({"RedrivePolicy":"{\"b\": \"y\", \"a\": 1}"})")}),
            "~ queue q RedrivePolicy\n");
}

// Servers fill in a retrier's defaults.
TEST(Plan, RetriersAreComparedWithTheirDefaults) {
  Resource mapping = queue("m", R"({"RetryPolicy":[{"ErrorEquals":["Timeout"],"MaxAttempts":2}]})");
  mapping.kind = Kind::mapping;
  Actual there = existing("m",
                          R"({"RetryPolicy":[{"ErrorEquals":["Timeout"],"IntervalSeconds":1,)"
                          R"("MaxAttempts":2,"BackoffRate":2,"JitterStrategy":"NONE"}]})");
  there.kind = Kind::mapping;
  EXPECT_EQ(shown({"shop", {mapping}, {}}, {there}), "= mapping m → m\n");
  there.properties = *read_json(
      R"({"RetryPolicy":[{"ErrorEquals":["Timeout"],"IntervalSeconds":4,"MaxAttempts":2}]})");
  EXPECT_EQ(shown({"shop", {mapping}, {}}, {there}), "~ mapping m → m RetryPolicy\n");
}

TEST(Plan, LogSettingsAreComparedAsFarAsTheyAreSaid) {
  Resource function = queue("f", R"({"LoggingConfig":{"LogFormat":"JSON"}})");
  function.kind = Kind::function;
  Actual there =
      existing("f", R"({"LoggingConfig":{"LogFormat":"JSON","LogGroup":"/aws/lambda/f"}})");
  there.kind = Kind::function;
  EXPECT_EQ(shown({"shop", {function}, {}}, {there}), "= function f\n");
  there.properties = *read_json(R"({"LoggingConfig":{"LogFormat":"Text"}})");
  EXPECT_EQ(shown({"shop", {function}, {}}, {there}), "~ function f LoggingConfig\n");
}

// A property removed from the file is reset to its default, but only if the stack created the
// resource: otherwise it may have been set by hand.
TEST(Plan, UnsaidPropertiesOfItsOwnGoBackToTheirDefaults) {
  const Stack stack{"shop", {queue("q")}, {}};
  const char* const properties = R"({"VisibilityTimeout":"77","RedrivePolicy":"{}"})";
  const std::vector<Actual> own = {existing("q", properties)};
  EXPECT_EQ(shown(stack, own), "~ queue q VisibilityTimeout RedrivePolicy\n");
  const auto plan = make_plan(stack, own, Prune::no);
  EXPECT_EQ((*plan)[0].changes.json(), R"({"VisibilityTimeout":30,"RedrivePolicy":""})");
  EXPECT_EQ(shown(stack, {existing("q", properties, {})}), "= queue q\n");
}

TEST(Plan, TagsOfOthersStay) {
  const Stack stack{"shop", {queue("q", "{}", {{"a", "1"}})}, {}};
  EXPECT_EQ(shown(stack, {existing("q", "{}", {{"a", "1"}, {"b", "2"}})}), "= queue q\n");
  Tags own = kOurs;
  own["b"] = "2";
  const std::vector<Actual> there = {existing("q", "{}", own)};
  const auto plan = make_plan(stack, there, Prune::no);
  EXPECT_EQ((*plan)[0].tags, (Tags{{"a", "1"}}));
  EXPECT_EQ((*plan)[0].tags_removed, std::vector<std::string>{"b"});
}

TEST(Plan, PruneRemovesWhatTheStackMadeAndNothingElse) {
  const Stack stack{"shop", {queue("q")}, {}};
  std::vector<Actual> there = {existing("q"),
                               existing("gone"),
                               existing("by-hand", "{}", {}),
                               existing("theirs", "{}", {{"redrive:stack", "other"}})};
  there.push_back({.kind = Kind::mapping, .name = "arn:aws:sqs:r:1:gone f", .tags = kOurs});
  EXPECT_EQ(shown(stack, there), "= queue q\n? mapping gone → f\n? queue gone\n");
  EXPECT_EQ(shown(stack, there, Prune::yes), "= queue q\n- mapping gone → f\n- queue gone\n");
}

TEST(Plan, WhatAnotherStackMadeIsNotTouched) {
  const Stack stack{"shop", {queue("q")}, {}};
  EXPECT_EQ(shown(stack, {existing("q", "{}", {{"redrive:stack", "other"}})}),
            "queue q belongs to the stack other");
}

TEST(Plan, EmptyPartsOfAMapAreNothing) {
  Resource mapping{.kind = Kind::mapping, .id = "m", .name = "a f"};
  const Stack stack{"shop", {mapping}, {}};
  Actual there{.kind = Kind::mapping, .name = "a f", .handle = "u", .tags = kOurs};
  there.properties = *read_json(
      R"({"BatchSize":10,"DestinationConfig":{"OnFailure":{}},"FunctionResponseTypes":[],"Enabled":true})");
  EXPECT_EQ(shown(stack, {there}), "= mapping a → f\n");
}

}  // namespace
}  // namespace redrive::stack
