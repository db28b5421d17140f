#include "aws/sqs/model/policy_decision.h"

#include <gtest/gtest.h>

#include <string>

namespace redrive::sqs {
namespace {

constexpr PolicyQuestion kQuestion{.action = "SendMessage",
                                   .resource = "arn:aws:sqs:us-east-1:111111111111:orders",
                                   .caller_account = "222222222222",
                                   .caller_arn = "arn:aws:iam::222222222222:user/shop",
                                   .source_ip = "10.1.2.3"};

// A policy of one statement; `parts` replaces or adds members.
std::string statement(const std::string& effect, const std::string& principal,
                      const std::string& action, const std::string& resource,
                      const std::string& more = "") {
  return R"({"Version":"2012-10-17","Statement":[{"Sid":"a","Effect":")" + effect +
         R"(","Principal":)" + principal + R"(,"Action":)" + action + R"(,"Resource":)" + resource +
         more + "}]}";
}

TEST(EvaluatePolicy, AStatementSpeaksOfPrincipalActionAndResource) {
  struct Case {
    std::string policy;
    PolicyVerdict verdict;
  };
  using enum PolicyVerdict;
  const std::string any = R"("*")";
  const Case cases[] = {
      {"", silent},
      {"{}", silent},
      {"not json", deny},
      {statement("Allow", any, R"("sqs:*")", any), allow},
      {statement("Allow", any, R"("*")", any), allow},
      {statement("Allow", any, R"("SQS:SendMessage")", any), allow},
      {statement("Allow", any, R"("sqs:sendmessage")", any), allow},
      {statement("Allow", any, R"("sqs:Send*")", any), allow},
      {statement("Allow", any, R"(["sqs:ReceiveMessage","sqs:SendMessage"])", any), allow},
      {statement("Allow", any, R"("sqs:ReceiveMessage")", any), silent},
      {statement("Allow", any, R"("s3:*")", any), silent},
      {statement("Allow", R"({"AWS":"*"})", any, any), allow},
      {statement("Allow", R"({"AWS":"222222222222"})", any, any), allow},
      {statement("Allow", R"({"AWS":"arn:aws:iam::222222222222:root"})", any, any), allow},
      {statement("Allow", R"({"AWS":"arn:aws:iam::222222222222:user/shop"})", any, any), allow},
      {statement("Allow", R"({"AWS":"arn:aws:iam::222222222222:user/other"})", any, any), silent},
      {statement("Allow", R"({"AWS":["333333333333","222222222222"]})", any, any), allow},
      {statement("Allow", R"({"AWS":"333333333333"})", any, any), silent},
      {statement("Allow", R"({"Service":"sns.amazonaws.com"})", any, any), silent},
      {statement("Allow", any, any, R"("arn:aws:sqs:us-east-1:111111111111:orders")"), allow},
      {statement("Allow", any, any, R"("arn:aws:sqs:*:111111111111:ord*")"), allow},
      {statement("Allow", any, any, R"("arn:aws:sqs:us-east-1:111111111111:bills")"), silent},
      {statement("Deny", any, any, any), deny},
      {statement("Deny", R"({"AWS":"333333333333"})", any, any), silent},
      {statement("Deny", any, R"("sqs:DeleteMessage")", any), silent},
      {R"({"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*"}})",
       allow},
      {R"({"Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"},
          {"Effect":"Deny","Principal":"*","Action":"sqs:SendMessage","Resource":"*"}]})",
       deny},
      {R"({"Statement":[{"Effect":"Allow","NotPrincipal":{"AWS":"333333333333"},
          "NotAction":"sqs:Delete*","NotResource":"arn:aws:sqs:*:*:bills"}]})",
       allow},
      {R"({"Statement":[{"Effect":"Allow","NotPrincipal":{"AWS":"222222222222"},
          "Action":"*","Resource":"*"}]})",
       silent},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(evaluate_policy(one.policy, kQuestion), one.verdict) << one.policy;
  }
}

TEST(EvaluatePolicy, Conditions) {
  struct Case {
    std::string condition;
    bool holds;
  };
  const Case cases[] = {
      {R"({"Bool":{"aws:SecureTransport":"false"}})", true},
      {R"({"Bool":{"aws:SecureTransport":false}})", true},
      {R"({"Bool":{"aws:SecureTransport":"true"}})", false},
      {R"({"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}})", true},
      {R"({"IpAddress":{"aws:SourceIp":["192.168.0.0/16","10.1.2.3"]}})", true},
      {R"({"IpAddress":{"aws:SourceIp":"10.1.2.4/32"}})", false},
      {R"({"IpAddress":{"aws:SourceIp":"fe80::/10"}})", false},
      {R"({"NotIpAddress":{"aws:SourceIp":"10.0.0.0/8"}})", false},
      {R"({"StringEquals":{"aws:PrincipalAccount":"222222222222"}})", true},
      {R"({"StringNotEquals":{"aws:PrincipalAccount":"222222222222"}})", false},
      {R"({"ArnLike":{"aws:PrincipalArn":"arn:aws:iam::222222222222:user/*"}})", true},
      {R"({"StringLike":{"aws:PrincipalArn":"arn:aws:iam::3*"}})", false},
      {R"({"StringEquals":{"aws:PrincipalAccount":"222222222222"},
          "Bool":{"aws:SecureTransport":"true"}})",
       false},
  };
  for (const Case& one : cases) {
    const std::string more = R"(,"Condition":)" + one.condition;
    EXPECT_EQ(evaluate_policy(statement("Allow", R"("*")", R"("*")", R"("*")", more), kQuestion),
              one.holds ? PolicyVerdict::allow : PolicyVerdict::silent)
        << one.condition;
    EXPECT_EQ(evaluate_policy(statement("Deny", R"("*")", R"("*")", R"("*")", more), kQuestion),
              one.holds ? PolicyVerdict::deny : PolicyVerdict::silent)
        << one.condition;
  }
}

TEST(EvaluatePolicy, WhatIsNotUnderstoodDenies) {
  const char* parts[] = {
      R"(,"Condition":{"DateGreaterThan":{"aws:CurrentTime":"2020-01-01T00:00:00Z"}})",
      R"(,"Condition":{"StringEquals":{"aws:PrincipalOrgID":"o-1"}})",
      R"(,"Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/99"}})",
      R"(,"Condition":{"IpAddress":{"aws:SourceIp":"nonsense"}})",
      R"(,"Condition":{"Bool":{"aws:MultiFactorAuthPresent":"true"}})",
      R"(,"Condition":[])",
      R"(,"Something":"new")",
  };
  for (const char* part : parts) {
    EXPECT_EQ(evaluate_policy(statement("Allow", R"("*")", R"("*")", R"("*")", part), kQuestion),
              PolicyVerdict::silent)
        << part;
    EXPECT_EQ(evaluate_policy(statement("Deny", R"("*")", R"("*")", R"("*")", part), kQuestion),
              PolicyVerdict::deny)
        << part;
  }
  // Unclear, but surely about something else.
  EXPECT_EQ(
      evaluate_policy(statement("Deny", R"("*")", R"("sqs:DeleteMessage")", R"("*")", parts[0]),
                      kQuestion),
      PolicyVerdict::silent);
  EXPECT_EQ(evaluate_policy(R"({"Statement":[{"Effect":"Deny"}]})", kQuestion),
            PolicyVerdict::deny);
  EXPECT_EQ(evaluate_policy(R"({"Statement":[{"Effect":"Allow"}]})", kQuestion),
            PolicyVerdict::silent);
  EXPECT_EQ(evaluate_policy(R"({"Statement":["text"]})", kQuestion), PolicyVerdict::deny);
  EXPECT_EQ(evaluate_policy(R"({"Statement":[{"Effect":"Maybe","Principal":"*","Action":"*",
      "Resource":"*"}]})",
                            kQuestion),
            PolicyVerdict::deny);
}

}  // namespace
}  // namespace redrive::sqs
