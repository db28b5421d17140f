#include "stack/transforms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace redrive::stack {
namespace {

Node expanded(std::string_view yaml) {
  auto root = apply_transforms(*read_yaml(yaml));
  EXPECT_TRUE(root.has_value()) << root.error().message;
  return root ? *std::move(root) : Node();
}

std::string message_of_transform(std::string_view yaml) {
  const auto root = apply_transforms(*read_yaml(yaml));
  return root ? "" : root.error().message;
}

TEST(Transforms, AServerlessFunctionBecomesItsParts) {
  const Node root = expanded(R"(
Transform: AWS::Serverless-2016-10-31
Globals: {Function: {Runtime: python3.11, Timeout: 5, Environment: {Variables: {A: 1, B: 2}}}}
Resources:
  Orders: {Type: AWS::SQS::Queue}
  Worker:
    Type: AWS::Serverless::Function
    Condition: C
    Properties:
      Handler: index.handler
      Timeout: 9
      CodeUri: s3://code/worker.zip
      Environment: {Variables: {B: 3}}
      Tags: {team: a}
      Policies:
        - AmazonS3ReadOnlyAccess
        - SQSSendMessagePolicy: {QueueName: !GetAtt Orders.QueueName}
        - {Statement: [{Effect: Allow, Action: 's3:*', Resource: '*'}]}
      Events:
        Feed: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn, BatchSize: 3}}
      EventInvokeConfig: {MaximumRetryAttempts: 1, DestinationConfig: {OnFailure: {Type: SQS, Destination: d}}}
)");
  EXPECT_FALSE(root.has("Transform"));
  EXPECT_FALSE(root.has("Globals"));
  const Node& resources = root["Resources"];
  const Node& worker = resources["Worker"];
  EXPECT_EQ(worker["Type"].scalar(), "AWS::Lambda::Function");
  EXPECT_EQ(worker["Condition"].scalar(), "C");
  EXPECT_EQ(worker["Properties"]["Timeout"].scalar(), "9");
  EXPECT_EQ(worker["Properties"]["Runtime"].scalar(), "python3.11");
  EXPECT_EQ(worker["Properties"]["Environment"].json(), R"({"Variables":{"A":1,"B":3}})");
  EXPECT_EQ(worker["Properties"]["Code"].json(), R"({"S3Bucket":"code","S3Key":"worker.zip"})");
  EXPECT_EQ(worker["Properties"]["Role"].json(), R"({"Fn::GetAtt":["WorkerRole","Arn"]})");
  const Node& role = resources["WorkerRole"]["Properties"];
  EXPECT_EQ(role["ManagedPolicyArns"].items().size(), 3u);
  EXPECT_EQ(role["Policies"].items().size(), 2u);
  EXPECT_NE(role["Policies"].json().find("sqs:SendMessage*"), std::string::npos);
  EXPECT_EQ(resources["WorkerRole"]["Condition"].scalar(), "C");
  EXPECT_EQ(
      resources["WorkerFeed"].json(),
      R"({"Type":"AWS::Lambda::EventSourceMapping","Properties":{"BatchSize":3,"EventSourceArn":{"Fn::GetAtt":["Orders","Arn"]},"FunctionName":{"Ref":"Worker"}},"Condition":"C"})");
  EXPECT_EQ(
      resources["WorkerEventInvokeConfig"]["Properties"].json(),
      R"({"MaximumRetryAttempts":1,"DestinationConfig":{"OnFailure":{"Destination":"d"}},"FunctionName":{"Ref":"Worker"},"Qualifier":"$LATEST"})");
}

TEST(Transforms, AnAliasFollowsTheCode) {
  const auto with_code = [](std::string_view code) {
    return expanded(
        fmt::format("Transform: AWS::Serverless-2016-10-31\nResources:\n  F: {{Type: "
                    "AWS::Serverless::Function, Properties: {{InlineCode: {}, Role: r, "
                    "AutoPublishAlias: live}}}}",
                    code))["Resources"];
  };
  const Node first = with_code("a");
  EXPECT_TRUE(first.has("FAliaslive"));
  EXPECT_FALSE(first.has("FRole"));
  EXPECT_EQ(first.members().size(), 3u);
  EXPECT_NE(first.json(), with_code("b").json());
  EXPECT_EQ(first.json(), with_code("a").json());
}

TEST(Transforms, WhatTheServerDoesNotHaveIsNamed) {
  const struct {
    const char* resource;
    const char* message;
  } cases[] = {
      {"{Type: AWS::Serverless::Api}", "AWS::Serverless::Api is not supported by this server"},
      {"{Type: AWS::Serverless::Function, Properties: {InlineCode: a, Events: {E: {Type: Api}}}}",
       "Events of type Api are not supported"},
      {"{Type: AWS::Serverless::Function, Properties: {CodeUri: ./src}}",
       "'CodeUri' is not a valid S3 Uri"},
      {"{Type: AWS::Serverless::Function, Properties: {InlineCode: a, Colour: red}}",
       "property Colour not defined"},
      {"{Type: AWS::Serverless::Function, Properties: {InlineCode: a, Policies: [{MagicPolicy: "
       "{}}]}}",
       "The policy template 'MagicPolicy' is not supported"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.resource);
    const std::string message = message_of_transform(fmt::format(
        "Transform: [AWS::Serverless-2016-10-31]\nResources: {{R: {}}}", each.resource));
    EXPECT_NE(message.find(each.message), std::string::npos) << message;
  }
  EXPECT_EQ(message_of_transform("{Transform: MyMacro, Resources: {}}"),
            "No transform named MyMacro found.");
}

TEST(Transforms, LoopsAreUnrolled) {
  const Node root = expanded(R"(
Transform: AWS::LanguageExtensions
Resources:
  Fn::ForEach::Queues:
    - Name
    - [orders, dead-letters]
    - Queue&{Name}:
        Type: AWS::SQS::Queue
        Properties: {QueueName: !Sub 'shop-${Name}', Tags: [{Key: n, Value: !Ref Name}]}
  Other: {Type: AWS::SQS::Queue}
)");
  const Node& resources = root["Resources"];
  EXPECT_EQ(resources.members().size(), 3u);
  EXPECT_EQ(
      resources["Queuedeadletters"]["Properties"].json(),
      R"({"QueueName":{"Fn::Sub":"shop-dead-letters"},"Tags":[{"Key":"n","Value":"dead-letters"}]})");
  EXPECT_NE(message_of_transform("{Transform: AWS::LanguageExtensions, Resources: "
                                 "{'Fn::ForEach::L': [A, !Ref P, {Q: {}}]}}")
                .find("the collection must be a list"),
            std::string::npos);
  EXPECT_NE(message_of_transform("{Transform: AWS::LanguageExtensions, Resources: "
                                 "{'Fn::ForEach::L': [A, [x, y], {Q: {}}]}}")
                .find("Q is defined twice"),
            std::string::npos);
}

}  // namespace
}  // namespace redrive::stack
