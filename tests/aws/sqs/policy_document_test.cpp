#include "aws/sqs/model/policy_document.h"

#include <gtest/gtest.h>

#include <vector>

#include "aws/sqs/operations.h"
#include "tests/core/engine/engine_world.h"

// AddPermission and RemovePermission: the document they write and what they refuse.

namespace redrive::sqs {
namespace {

constexpr std::string_view kArn = "arn:aws:sqs:us-east-1:000000000000:orders";

std::string with(std::string_view policy, std::string_view label,
                 std::vector<std::string_view> accounts, std::vector<std::string_view> actions) {
  return policy_with(policy, {label, kArn, accounts, actions});
}

TEST(PolicyDocument, TheFirstPermissionMakesTheDefaultPolicy) {
  EXPECT_EQ(
      with("", "label", {"111111111111"}, {"ReceiveMessage"}),
      R"({"Version":"2008-10-17","Id":"arn:aws:sqs:us-east-1:000000000000:orders/SQSDefaultPolicy","Statement":[)"
      R"({"Sid":"label","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111111111111:root"},)"
      R"("Action":"SQS:ReceiveMessage","Resource":"arn:aws:sqs:us-east-1:000000000000:orders"}]})");
}

TEST(PolicyDocument, SeveralAccountsAndActionsAreLists) {
  const std::string policy =
      with("", "label", {"111111111111", "222222222222"}, {"SendMessage", "ReceiveMessage"});
  EXPECT_NE(
      policy.find(R"("AWS":["arn:aws:iam::111111111111:root","arn:aws:iam::222222222222:root"])"),
      std::string::npos);
  EXPECT_NE(policy.find(R"("Action":["SQS:SendMessage","SQS:ReceiveMessage"])"), std::string::npos);
}

TEST(PolicyDocument, StatementsAreAddedAndTakenAwayByLabel) {
  const std::string one = with("", "one", {"111111111111"}, {"*"});
  const std::string two = with(one, "two", {"222222222222"}, {"SendMessage"});
  EXPECT_TRUE(policy_has_statement(two, "one"));
  EXPECT_TRUE(policy_has_statement(two, "two"));
  EXPECT_FALSE(policy_has_statement(two, "three"));
  EXPECT_EQ(policy_without(two, "two"), one);
  EXPECT_EQ(policy_without(one, "one"), "");
}

TEST(PolicyDocument, WhatSomebodyElseWroteIsKept) {
  const std::string_view own =
      R"({"Version":"2012-10-17","Statement":{"Sid":"mine","Effect":"Deny","Condition":{"x":[1,true,null]}},"Extra":1})";
  const std::string added = with(own, "more", {"111111111111"}, {"SendMessage"});
  EXPECT_TRUE(policy_has_statement(added, "mine"));
  EXPECT_NE(added.find(R"({"Sid":"mine","Effect":"Deny","Condition":{"x":[1,true,null]}})"),
            std::string::npos);
  EXPECT_NE(added.find(R"("Version":"2012-10-17")"), std::string::npos);
  EXPECT_NE(added.find(R"("Extra":1)"), std::string::npos);
}

TEST(PolicyDocument, OnlyAnObjectIsAPolicy) {
  EXPECT_TRUE(is_policy("{}"));
  EXPECT_TRUE(is_policy(R"({"Statement":[]})"));
  for (const char* text : {"", "[]", "1", "null", "{", "{}x"})
    EXPECT_FALSE(is_policy(text)) << text;
  EXPECT_FALSE(policy_has_statement("", "x"));
  EXPECT_FALSE(policy_has_statement("{", "x"));
  EXPECT_FALSE(policy_has_statement(R"({"Statement":[1,"x",{"Sid":2}]})", "x"));
}

struct Permissions : testing::Test {
  engine::EngineWorld world;
  ServiceOptions options;
  Call call{world.engine(), options};

  Permissions() {
    call.account = "000000000000";
    call.region = "us-east-1";
    world.create("orders");
  }
  Result<AddPermissionOutput> add(std::string_view label, StringList accounts, StringList actions) {
    return run(call,
               AddPermissionInput{.queue_url = "orders",
                                  .label = label,
                                  .aws_account_ids = std::move(accounts),
                                  .actions = std::move(actions)});
  }
  Result<RemovePermissionOutput> remove(std::string_view label) {
    return run(call, RemovePermissionInput{.queue_url = "orders", .label = label});
  }
  const std::string& policy() {
    return world.state().find(engine::identity_of("orders"))->settings.policy;
  }
};

TEST_F(Permissions, ComeAndGo) {
  ASSERT_TRUE(add("label", {"111111111111"}, {"SendMessage"}).has_value());
  EXPECT_TRUE(policy_has_statement(policy(), "label"));
  ASSERT_TRUE(remove("label").has_value());
  EXPECT_EQ(policy(), "");
}

TEST_F(Permissions, ALabelIsUsedOnceAndMustExistToBeRemoved) {
  ASSERT_TRUE(add("label", {"111111111111"}, {"SendMessage"}).has_value());
  EXPECT_EQ(add("label", {"111111111111"}, {"SendMessage"}).error(),
            (Error{ErrorCode::invalid_parameter_value,
                   "Value label for parameter Label is invalid. Reason: Already exists."}));
  EXPECT_EQ(remove("other").error(),
            (Error{ErrorCode::invalid_parameter_value,
                   "Value other for parameter Label is invalid. Reason: can't find label."}));
}

TEST_F(Permissions, RefuseWhatCannotBeShared) {
  struct Case {
    std::string_view label;
    StringList accounts;
    StringList actions;
    ErrorCode code;
    std::string_view part;
  };
  const Case cases[] = {
      {"a b", {"111111111111"}, {"*"}, ErrorCode::invalid_parameter_value, "parameter Label"},
      {"", {"111111111111"}, {"*"}, ErrorCode::invalid_parameter_value, "parameter Label"},
      {"l", {"1234"}, {"*"}, ErrorCode::invalid_parameter_value, "PrincipalId"},
      {"l", {"11111111111x"}, {"*"}, ErrorCode::invalid_parameter_value, "PrincipalId"},
      {"l",
       {"111111111111"},
       {"CreateQueue"},
       ErrorCode::invalid_parameter_value,
       "Only the queue owner"},
      {"l",
       {"111111111111"},
       {"Nonsense"},
       ErrorCode::invalid_parameter_value,
       "Value SQS:Nonsense"},
      {"l",
       {"111111111111"},
       {"*", "*", "*", "*", "*", "*", "*", "*"},
       ErrorCode::over_limit,
       "8 Actions were found, maximum allowed is 7."},
  };
  for (const auto& [label, accounts, actions, code, part] : cases) {
    const auto added = add(label, accounts, actions);
    ASSERT_FALSE(added.has_value()) << part;
    EXPECT_EQ(added.error().code, code) << part;
    EXPECT_NE(added.error().message.find(part), std::string::npos) << added.error().message;
  }
  EXPECT_EQ(policy(), "");
}

}  // namespace
}  // namespace redrive::sqs
