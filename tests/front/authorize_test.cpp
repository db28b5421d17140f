#include "front/authorize.h"

#include <gtest/gtest.h>

namespace redrive::front {
namespace {

using auth::AccessKey;
using auth::Right;
using auth::Role;
using auth::Statement;

constexpr std::string_view kOwn = "000000000000";
constexpr std::string_view kOther = "222222222222";
constexpr std::string_view kDeny =
    R"({"Statement":[{"Effect":"Deny","Principal":"*","Action":"sqs:ReceiveMessage","Resource":"*"}]})";
constexpr std::string_view kShare =
    R"({"Statement":[{"Effect":"Allow","Principal":{"AWS":"000000000000"},"Action":"sqs:SendMessage","Resource":"*"}]})";

class DecideTest : public testing::Test {
 protected:
  Result<void> decide(const Operation& operation, const Resource& resource,
                      std::string_view policy = {}) {
    Caller caller{.account = std::string(kOwn), .region = "us-east-1", .sender_id = "k"};
    caller.key = &key_;
    return front::decide(caller, operation, resource, policy);
  }
  static Resource queue(std::string_view name, std::string_view account = kOwn) {
    return {.kind = ResourceKind::queue, .account = account, .region = "us-east-1", .name = name};
  }

  AccessKey key_{.id = "K",
                 .secret = "s",
                 .account = std::string(kOwn),
                 .name = "k",
                 .role = Role::operator_,
                 .queues = {"a-*"}};
};

constexpr Operation kPeek{
    .name = "redrive:peekMessages", .right = Right::look, .amounts_to = {"sqs:ReceiveMessage"}};

TEST_F(DecideTest, RoleAndPatternsBothCount) {
  EXPECT_TRUE(decide(kSendToQueue, queue("a-1")));
  EXPECT_FALSE(decide(kSendToQueue, queue("b-1")));
  key_.role = Role::reader;
  EXPECT_FALSE(decide(kSendToQueue, queue("a-1")));
}

TEST_F(DecideTest, AnOperationIsDeniedWhereWhatItAmountsToIsDenied) {
  EXPECT_TRUE(decide(kPeek, queue("a-1")));
  EXPECT_FALSE(decide(kPeek, queue("a-1"), kDeny));
  EXPECT_TRUE(decide(kSendToQueue, queue("a-1"), kDeny));
}

TEST_F(DecideTest, AnotherAccountsQueueTakesAPolicyThatSharesIt) {
  EXPECT_FALSE(decide(kSendToQueue, queue("a-1", kOther)));
  EXPECT_TRUE(decide(kSendToQueue, queue("a-1", kOther), kShare));
  EXPECT_FALSE(decide(kPeek, queue("a-1", kOther), kShare));
  EXPECT_FALSE(decide(kPutObject, bucket_resource(kOther, "a-1")));
}

TEST_F(DecideTest, InternalQueuesDoNotExist) {
  EXPECT_EQ(decide(kSendToQueue, queue("a-1!bin")).error().code, ErrorCode::queue_does_not_exist);
  const Caller open{.account = std::string(kOwn), .region = "us-east-1", .sender_id = "k"};
  EXPECT_FALSE(front::decide(open, kSendToQueue, queue("a-1!bin"), {}));
  EXPECT_TRUE(front::decide(open, kSendToQueue, queue("anything"), {}));
}

TEST_F(DecideTest, StatementsGrantWhatTheRoleDoesNot) {
  key_.role = Role::scoped;
  key_.queues = {};
  EXPECT_FALSE(decide(kSendToQueue, queue("b-1")));
  key_.statements = {{.actions = {"sqs:SendMessage"}, .resources = {"arn:aws:sqs:*:*:b-*"}}};
  EXPECT_TRUE(decide(kSendToQueue, queue("b-1")));
  EXPECT_FALSE(decide(kSendToQueue, queue("c-1")));
  EXPECT_FALSE(decide(kPeek, queue("b-1")));
  // Not beyond the account, unless the queue's policy agrees.
  EXPECT_FALSE(decide(kSendToQueue, queue("b-1", kOther)));
  EXPECT_TRUE(decide(kSendToQueue, queue("b-1", kOther), kShare));
}

TEST_F(DecideTest, AnOperationNeedsAStatementForEachThingItAmountsTo) {
  key_.role = Role::scoped;
  const Operation editing{.name = "redrive:editMessage",
                          .right = Right::operate,
                          .amounts_to = {"sqs:ReceiveMessage", "sqs:DeleteMessage"}};
  key_.statements = {{.actions = {"sqs:ReceiveMessage"}, .resources = {"*"}}};
  EXPECT_FALSE(decide(editing, queue("a-1")));
  key_.statements.push_back({.actions = {"sqs:DeleteMessage"}, .resources = {"*"}});
  EXPECT_TRUE(decide(editing, queue("a-1")));
  key_.statements.push_back(
      {.effect = Statement::Effect::deny, .actions = {"redrive:*"}, .resources = {"*"}});
  EXPECT_FALSE(decide(editing, queue("a-1")));
}

TEST_F(DecideTest, StatementsOnObjectsMatchTheirKeys) {
  key_.role = Role::scoped;
  key_.statements = {{.actions = {"s3:GetObject"}, .resources = {"arn:aws:s3:::b/in/*"}}};
  EXPECT_TRUE(decide(kGetObject, bucket_resource(kOwn, "b", "in/x")));
  EXPECT_FALSE(decide(kGetObject, bucket_resource(kOwn, "b", "out/x")));
}

TEST_F(DecideTest, WhatIsAboutTheWholeServerTakesAKeyWithoutLimits) {
  const Operation reading{.name = "redrive:readLog", .right = Right::operate};
  const Resource server{.kind = ResourceKind::server, .account = kOwn};
  EXPECT_FALSE(decide(reading, server));
  key_.statements = {{.actions = {"*"}, .resources = {"*"}}};
  EXPECT_FALSE(decide(reading, server));
  key_.statements = {};
  key_.queues = {};
  EXPECT_TRUE(decide(reading, server));
  EXPECT_FALSE(decide(reading, {.kind = ResourceKind::server, .account = kOther}));
}

TEST_F(DecideTest, AKeyForSomeNamesGrantsNoRights) {
  const Operation changing{.name = "iam:PutRolePolicy", .right = Right::administer};
  const Resource role{
      .kind = ResourceKind::role, .account = kOwn, .name = "role/a-1", .covered_as = "a-1"};
  key_.role = Role::admin;
  EXPECT_FALSE(decide(changing, role));
  key_.queues = {};
  EXPECT_TRUE(decide(changing, role));
}

}  // namespace
}  // namespace redrive::front
