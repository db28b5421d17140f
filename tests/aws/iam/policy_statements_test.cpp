#include "aws/iam/policy_statements.h"

#include <gtest/gtest.h>

namespace redrive::iam {
namespace {

using auth::AccessKey;
using auth::StatementVerdict;

constexpr std::string_view kQueue = "arn:aws:sqs:us-east-1:000000000000:orders";
constexpr auto kSilent = StatementVerdict::silent;
constexpr auto kAllow = StatementVerdict::allow;
constexpr auto kDeny = StatementVerdict::deny;

StatementVerdict verdict(std::string_view statements, std::string_view action,
                         std::string_view arn = kQueue) {
  const std::string document =
      R"({"Version":"2012-10-17","Statement":)" + std::string(statements) + "}";
  return AccessKey{.statements = statements_of(document)}.statements_on(action, arn);
}

TEST(PolicyStatements, SayWhatTheyUnderstand) {
  const struct {
    const char* name;
    const char* statements;
    const char* action;
    StatementVerdict verdict;
  } cases[] = {
      {"an action",
       R"({"Effect":"Allow","Action":"sqs:SendMessage","Resource":"*"})",
       "sqs:SendMessage",
       kAllow},
      {"another action",
       R"({"Effect":"Allow","Action":"sqs:SendMessage","Resource":"*"})",
       "sqs:ReceiveMessage",
       kSilent},
      {"case of actions",
       R"({"Effect":"Allow","Action":"SQS:sendmessage","Resource":"*"})",
       "sqs:SendMessage",
       kAllow},
      {"wildcards",
       R"([{"Effect":"Allow","Action":["s3:*","sqs:Send*"],"Resource":["*"]}])",
       "sqs:SendMessage",
       kAllow},
      {"a resource",
       R"({"Effect":"Allow","Action":"sqs:*","Resource":"arn:aws:sqs:*:*:ord?rs"})",
       "sqs:SendMessage",
       kAllow},
      {"another resource",
       R"({"Effect":"Allow","Action":"sqs:*","Resource":"arn:aws:sqs:*:*:order"})",
       "sqs:SendMessage",
       kSilent},
      {"NotAction",
       R"({"Effect":"Allow","NotAction":"s3:*","Resource":"*"})",
       "sqs:SendMessage",
       kAllow},
      {"NotAction that names it",
       R"({"Effect":"Allow","NotAction":"sqs:*","Resource":"*"})",
       "sqs:SendMessage",
       kSilent},
      {"NotResource",
       R"({"Effect":"Allow","Action":"*","NotResource":"arn:aws:sqs:*:*:secret-*"})",
       "sqs:SendMessage",
       kAllow},
      {"NotResource that names it",
       R"({"Effect":"Allow","Action":"*","NotResource":"arn:aws:sqs:*:*:orders"})",
       "sqs:SendMessage",
       kSilent},
      {"Deny wins",
       R"([{"Effect":"Deny","Action":"sqs:Send*","Resource":"*"},
           {"Effect":"Allow","Action":"*","Resource":"*"}])",
       "sqs:SendMessage",
       kDeny},
      {"Deny of something else",
       R"([{"Effect":"Deny","Action":"sqs:Purge*","Resource":"*"},
           {"Effect":"Allow","Action":"*","Resource":"*"}])",
       "sqs:SendMessage",
       kAllow},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(verdict(one.statements, one.action), one.verdict);
  }
}

// What is not understood grants nothing, and denies at least what was meant.
TEST(PolicyStatements, WhatIsNotUnderstoodDenies) {
  const struct {
    const char* name;
    const char* rest;
    const char* foreign;  // An action that the statement is not about; its deny may be wider.
  } cases[] = {
      {"a condition",
       R"("Action":"sqs:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"true"}})",
       "s3:GetObject"},
      {"an empty condition", R"("Action":"sqs:*","Resource":"*","Condition":{})", "s3:GetObject"},
      {"a principal", R"("Action":"sqs:*","Resource":"*","Principal":"*")", "s3:GetObject"},
      {"an unknown member", R"("Action":"sqs:*","Resource":"*","Unless":"x")", "s3:GetObject"},
      {"a variable",
       R"("Action":"sqs:*","Resource":"arn:aws:sqs:*:*:${aws:username}")",
       "s3:GetObject"},
      {"no resource", R"("Action":"sqs:*")", "s3:GetObject"},
      {"no action", R"("Resource":"*")", nullptr},
      {"an action that is a number", R"("Action":1,"Resource":"*")", nullptr},
      {"a number among the actions", R"("Action":["sqs:*",1],"Resource":"*")", nullptr},
      {"an empty list of exceptions", R"("NotAction":[],"Resource":"*")", nullptr},
      {"both kinds of actions", R"("Action":"s3:*","NotAction":"s3:*","Resource":"*")", nullptr},
      {"a resource that is an object", R"("Action":"sqs:*","Resource":{})", "s3:GetObject"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    const std::string rest(one.rest);
    EXPECT_EQ(verdict(R"({"Effect":"Allow",)" + rest + "}", "sqs:SendMessage"), kSilent);
    EXPECT_EQ(verdict(R"({"Effect":"Deny",)" + rest + "}", "sqs:SendMessage"), kDeny);
    if (one.foreign != nullptr) {
      EXPECT_EQ(verdict(R"({"Effect":"Deny",)" + rest + "}", one.foreign), kSilent);
    }
  }
  for (const char* effect : {R"("allow")", R"("")", "1", "null"}) {
    const std::string statement =
        R"({"Action":"*","Resource":"*","Effect":)" + std::string(effect) + "}";
    EXPECT_EQ(verdict(statement, "sqs:SendMessage"), kSilent) << effect;
  }
}

TEST(PolicyStatements, DocumentsThatCannotBeReadDenyEverything) {
  for (const char* document : {"", "[", "[]", "1", "{"}) {
    const AccessKey key{.statements = statements_of(document)};
    EXPECT_EQ(key.statements_on("sqs:SendMessage", kQueue), kDeny) << document;
  }
  EXPECT_TRUE(statements_of("{}").empty());
}

TEST(PolicyStatements, CommonPoliciesOfAwsHaveTheirMeaning) {
  const struct {
    const char* policy;
    const char* action;
    StatementVerdict verdict;
  } cases[] = {
      {"service-role/AWSLambdaBasicExecutionRole", "sqs:ReceiveMessage", kSilent},
      {"service-role/AWSLambdaSQSQueueExecutionRole", "sqs:ReceiveMessage", kAllow},
      {"service-role/AWSLambdaSQSQueueExecutionRole", "sqs:SendMessage", kSilent},
      {"AmazonSQSFullAccess", "sqs:PurgeQueue", kAllow},
      {"AmazonSQSFullAccess", "s3:GetObject", kSilent},
      {"AmazonSQSReadOnlyAccess", "sqs:GetQueueAttributes", kAllow},
      {"AmazonSQSReadOnlyAccess", "sqs:ReceiveMessage", kSilent},
      {"AdministratorAccess", "lambda:InvokeFunction", kAllow},
      {"NoSuchPolicy", "sqs:ReceiveMessage", kSilent},
  };
  for (const auto& one : cases) {
    const AccessKey key{
        .statements = aws_managed_statements(std::string("arn:aws:iam::aws:policy/") + one.policy)};
    EXPECT_EQ(key.statements_on(one.action, kQueue), one.verdict) << one.policy << one.action;
  }
  EXPECT_TRUE(
      aws_managed_statements("arn:aws:iam::000000000000:policy/AdministratorAccess").empty());
}

}  // namespace
}  // namespace redrive::iam
