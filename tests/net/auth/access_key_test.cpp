#include "net/auth/access_key.h"

#include <gtest/gtest.h>

#include <set>

namespace redrive::auth {
namespace {

using namespace std::chrono_literals;

TEST(Role, EachHasItsRights) {
  struct Case {
    const char* role;
    std::set<Right> rights;
  };
  using enum Right;
  const Case cases[] = {
      {"admin", {find, look, send, consume, operate, administer}},
      {"operator", {find, look, send, consume, operate}},
      {"producer", {find, send}},
      {"consumer", {find, consume}},
      {"reader", {find, look}},
  };
  for (const Case& one : cases) {
    const auto role = parse_role(one.role);
    ASSERT_TRUE(role.has_value()) << one.role;
    EXPECT_EQ(role_name(*role), one.role);
    for (const Right right : {find, look, send, consume, operate, administer}) {
      EXPECT_EQ(has_right(*role, right), one.rights.contains(right))
          << one.role << " and right " << static_cast<int>(right);
    }
  }
  EXPECT_FALSE(parse_role("root").has_value());
  EXPECT_FALSE(parse_role("").has_value());
}

TEST(AccessKey, CoversTheQueuesOfItsPatterns) {
  AccessKey key{.id = "A", .queues = {"orders-*", "bills"}};
  EXPECT_TRUE(key.covers("orders-eu"));
  EXPECT_TRUE(key.covers("bills"));
  EXPECT_FALSE(key.covers("bills-2"));
  key.queues.clear();
  EXPECT_TRUE(key.covers("anything"));
}

TEST(KeyRing, FindsKeysByIdAndRefusesBadOnes) {
  const auto ring = KeyRing::make({{.id = "A", .secret = "s"}, {.id = "B", .secret = "t"}});
  ASSERT_TRUE(ring.has_value());
  EXPECT_EQ(ring->find("B")->secret, "t");
  EXPECT_EQ(ring->find("A")->name, "A");  // No name was configured.
  EXPECT_EQ(ring->find("C"), nullptr);
  EXPECT_FALSE(KeyRing::make({{.id = "A", .secret = "s"}, {.id = "A", .secret = "t"}}));
  EXPECT_FALSE(KeyRing::make({{.id = "", .secret = "s"}}));
  EXPECT_FALSE(KeyRing::make({{.id = "A", .secret = ""}}));
}

TEST(KeyRing, AdmitsABurstAndThenTheRate) {
  const auto ring = KeyRing::make(
      {{.id = "A", .secret = "s", .requests_per_second = 10}, {.id = "B", .secret = "s"}});
  ASSERT_TRUE(ring.has_value());
  const AccessKey& limited = *ring->find("A");
  const auto admitted = [&](std::chrono::nanoseconds now) {
    int count = 0;
    while (count < 1000 && ring->admit(limited, now)) ++count;
    return count;
  };
  EXPECT_EQ(admitted(1h), 10);
  EXPECT_EQ(admitted(1h + 99ms), 0);
  EXPECT_EQ(admitted(1h + 100ms), 1);
  EXPECT_EQ(admitted(1h + 600ms), 5);
  EXPECT_EQ(admitted(2h), 10);  // Unused capacity does not accumulate.
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(ring->admit(*ring->find("B"), 1h));
}

TEST(Statements, AMatchingDenyWins) {
  const AccessKey key{
      .id = "A",
      .secret = "s",
      .role = Role::scoped,
      .statements = {{.actions = {"sqs:*Message"}, .resources = {"arn:aws:sqs:*:*:orders-*"}},
                     {.effect = Statement::Effect::deny,
                      .actions = {"SQS:deletemessage"},
                      .resources = {"*"}}}};
  const auto on = [&](std::string_view action, std::string_view queue) {
    return key.statements_on(action, "arn:aws:sqs:us-east-1:000000000000:" + std::string(queue));
  };
  EXPECT_EQ(on("sqs:SendMessage", "orders-1"), StatementVerdict::allow);
  EXPECT_EQ(on("sqs:SendMessage", "other"), StatementVerdict::silent);
  EXPECT_EQ(on("sqs:PurgeQueue", "orders-1"), StatementVerdict::silent);
  EXPECT_EQ(on("sqs:DeleteMessage", "orders-1"), StatementVerdict::deny);
}

TEST(Roles, NoConfigurationNamesTheRoleWithoutRights) {
  EXPECT_FALSE(parse_role("scoped"));
  for (const Right right : {Right::find, Right::look, Right::send, Right::consume}) {
    EXPECT_FALSE(has_right(Role::scoped, right));
  }
}

TEST(MakeKey, IdsAndSecretsAreFreshAndOfTheUsualForm) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string id = make_key_id();
    const std::string secret = make_key_secret();
    EXPECT_EQ(id.size(), 20u);
    EXPECT_TRUE(id.starts_with("AKIA"));
    EXPECT_EQ(secret.size(), 40u);
    EXPECT_TRUE(seen.insert(id).second && seen.insert(secret).second);
  }
}

TEST(Statements, DenyWinsOverAllowAndSilenceIsNeither) {
  using enum StatementVerdict;
  using Effect = Statement::Effect;
  const AccessKey key{
      .statements = {
          {.effect = Effect::allow, .actions = {"SQS:Send*"}, .resources = {"arn:q:*"}},
          {.effect = Effect::deny, .actions = {"*"}, .resources = {"arn:q:secret"}},
          {.effect = Effect::allow,
           .actions = {"sqs:*", "iam:*"},
           .resources = {"arn:b:*"},
           .except_actions = true},
          {.effect = Effect::allow,
           .actions = {"lambda:Invoke"},
           .resources = {"arn:f:secret"},
           .except_resources = true},
      }};
  EXPECT_EQ(key.statements_on("sqs:SendMessage", "arn:q:orders"), allow);
  EXPECT_EQ(key.statements_on("sqs:SendMessage", "arn:q:secret"), deny);
  EXPECT_EQ(key.statements_on("sqs:ReceiveMessage", "arn:q:orders"), silent);
  EXPECT_EQ(key.statements_on("s3:GetObject", "arn:b:x"), allow);
  EXPECT_EQ(key.statements_on("sqs:GetObject", "arn:b:x"), silent);
  EXPECT_EQ(key.statements_on("lambda:Invoke", "arn:f:open"), allow);
  EXPECT_EQ(key.statements_on("lambda:Invoke", "arn:f:secret"), silent);
  EXPECT_EQ(AccessKey{}.statements_on("sqs:SendMessage", "arn:q:orders"), silent);
}

}  // namespace
}  // namespace redrive::auth
