#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stack/stack.h"

namespace redrive::stack {
namespace {

Surroundings shop() {
  return {.stack_name = "shop",
          .account = "123456789012",
          .region = "eu-west-1",
          .endpoint = "http://127.0.0.1:9324",
          .directory = "/project",
          .parameters = {}};
}

Result<Stack> read(std::string_view yaml, Surroundings around = shop()) {
  const auto root = read_yaml(yaml);
  EXPECT_TRUE(root.has_value()) << root.error().message;
  return read_template(*root, Node(), around);
}

const Resource& find(const Stack& stack, std::string_view id) {
  const auto found = std::ranges::find(stack.resources, id, &Resource::id);
  EXPECT_NE(found, stack.resources.end()) << id;
  static const Resource kNone{.kind = Kind::queue, .id = {}, .name = {}};
  return found == stack.resources.end() ? kNone : *found;
}

constexpr std::string_view kOrders = R"(
Parameters:
  Stage: {Type: String, Default: dev, AllowedValues: [dev, prod]}
  Retries: {Type: Number, Default: 3}
Conditions:
  Production: !Equals [!Ref Stage, prod]
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: !Sub 'orders-${Stage}'
      VisibilityTimeout: !If [Production, 60, !Ref AWS::NoValue]
      RedrivePolicy:
        maxReceiveCount: !Ref Retries
        deadLetterTargetArn: !GetAtt Dead.Arn
      Tags: [{Key: team, Value: a}]
  Dead:
    Type: AWS::SQS::Queue
    Properties: {MessageRetentionPeriod: 1209600}
  Audit:
    Type: AWS::SQS::Queue
    Condition: Production
  Policy:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Orders]
      PolicyDocument: {Version: 2012-10-17, Statement: []}
  Role:
    Type: AWS::IAM::Role
    Properties: {AssumeRolePolicyDocument: {}}
  Worker:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.11
      Handler: index.handler
      Timeout: "10"
      Role: !GetAtt Role.Arn
      Environment: {Variables: {QUEUE_URL: !Ref Orders, LIMIT: 5}}
      Code: {ZipFile: "def handler(e, c): pass"}
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: !Ref Worker
      BatchSize: 5
      FunctionResponseTypes: [ReportBatchItemFailures]
  Archive: {Type: AWS::S3::Bucket}
  Alarm:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmName: dead
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions: [{Name: QueueName, Value: !GetAtt Dead.QueueName}]
)";

TEST(Template, BecomesResourcesWithFunctionsWorkedOut) {
  const auto stack = read(kOrders);
  ASSERT_TRUE(stack.has_value()) << stack.error().message;
  const Resource& orders = find(*stack, "Orders");
  EXPECT_EQ(orders.name, "orders-dev");
  EXPECT_EQ(
      orders.properties.json(),
      R"({"RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:123456789012:shop-Dead\",\"maxReceiveCount\":3}","Policy":"{\"Statement\":[],\"Version\":\"2012-10-17\"}"})");
  EXPECT_EQ(orders.tags, (Tags{{"team", "a"}}));
  EXPECT_EQ(find(*stack, "Dead").properties.json(), R"({"MessageRetentionPeriod":"1209600"})");
  const Resource& worker = find(*stack, "Worker");
  EXPECT_EQ(worker.name, "shop-Worker");
  EXPECT_EQ(
      worker.properties.json(),
      R"({"Runtime":"python3.11","Handler":"index.handler","Role":"arn:aws:iam::123456789012:role/shop-Role","Timeout":10,"Environment":{"Variables":{"QUEUE_URL":"http://127.0.0.1:9324/123456789012/orders-dev","LIMIT":"5"}}})");
  EXPECT_EQ(worker.code->text, "def handler(e, c): pass");
  EXPECT_EQ(
      find(*stack, "Feed").properties.json(),
      R"({"EventSourceArn":"arn:aws:sqs:eu-west-1:123456789012:orders-dev","FunctionName":"shop-Worker","BatchSize":5,"FunctionResponseTypes":["ReportBatchItemFailures"]})");
  EXPECT_EQ(find(*stack, "Archive").name, "shop-archive");
  EXPECT_EQ(find(*stack, "Alarm").properties["Dimensions"].json(),
            R"([{"Name":"QueueName","Value":"shop-Dead"}])");
  EXPECT_EQ(stack->notes,
            (std::vector<std::string>{
                "Role (AWS::IAM::Role) is omitted: IAM resources are not applied"}));
}

TEST(Template, ConditionsFollowTheParameters) {
  Surroundings around = shop();
  around.parameters["Stage"] = "prod";
  const auto stack = read(kOrders, around);
  ASSERT_TRUE(stack.has_value()) << stack.error().message;
  EXPECT_EQ(find(*stack, "Orders").properties["VisibilityTimeout"].scalar(), "60");
  EXPECT_EQ(find(*stack, "Audit").name, "shop-Audit");
}

// A resource comes after those it refers to; a queue's dead-letter queue is created before it.
TEST(Template, ResourcesComeInTheOrderInWhichTheyAreMade) {
  const auto stack = read(kOrders);
  ASSERT_TRUE(stack.has_value());
  std::vector<std::string> ids;
  for (const Resource& resource : stack->resources) ids.push_back(resource.id);
  EXPECT_EQ(ids,
            (std::vector<std::string>{"Archive", "Dead", "Orders", "Worker", "Feed", "Alarm"}));
}

TEST(Template, TextFunctions) {
  const struct {
    const char* value;
    const char* json;
  } cases[] = {
      {"!Sub ['${A}-${AWS::Region}', {A: x}]", R"("x-eu-west-1")"},
      {"!Sub '${!Literal} ${Q.Arn}'", R"("${Literal} arn:aws:sqs:eu-west-1:123456789012:shop-Q")"},
      {"!Join ['', [a, !Ref AWS::AccountId, b]]", R"("a123456789012b")"},
      {"!Select [1, !Split ['|', 'a|b|c']]", R"("b")"},
      {"!FindInMap [Sizes, eu-west-1, big]", R"("ten")"},
      {"!Select ['0', !Ref Names]", R"("x")"},
      {"!Base64 abc", R"("YWJj")"},
      {"!Ref AWS::StackName", R"("shop")"},
      {"!Ref AWS::Partition", R"("aws")"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.value);
    const auto stack = read(fmt::format(R"(
Parameters: {{Names: {{Type: CommaDelimitedList, Default: "x,y"}}}}
Mappings: {{Sizes: {{eu-west-1: {{big: ten}}}}}}
Resources:
  Q: {{Type: AWS::SQS::Queue}}
  F:
    Type: AWS::Lambda::Function
    Properties: {{Description: {}, Code: {{ZipFile: x}}}}
)",
                                        each.value));
    ASSERT_TRUE(stack.has_value()) << stack.error().message;
    EXPECT_EQ(find(*stack, "F").properties["Description"].json(), each.json);
  }
}

TEST(Template, MistakesAreNamed) {
  const struct {
    const char* yaml;
    const char* message;
  } cases[] = {
      {"{}", "no Resources"},
      {"{Resources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !Ref Nobody}}}}",
       "Q: Nobody is neither a parameter nor a resource"},
      {"{Parameters: {P: {Type: String}}, Resources: {}}", "the parameter P has no value"},
      {"{Resources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !Ref Q}}}}",
       "the name of Q depends on itself"},
      {"{Conditions: {A: !Condition B, B: !Not [!Condition A]}, Resources: {Q: {Type: "
       "AWS::SQS::Queue, Condition: A}}}",
       "Circular dependency of the condition"},
      {"{Resources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !Magic x}}}}",
       "Fn::Magic is not supported"},
      {"{Resources: {F: {Type: AWS::Lambda::Function, Properties: {Code: {ImageUri: x}}}}}",
       "container images"},
      {"{Resources: {A: {Type: AWS::SQS::Queue, Properties: {QueueName: q}}, B: {Type: "
       "AWS::SQS::Queue, Properties: {QueueName: q}}}}",
       "queue q is defined twice"},
      {"{Resources: {A: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: "
       "!GetAtt B.Arn}}}, B: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: "
       "{deadLetterTargetArn: !GetAtt A.Arn}}}}}",
       "form a loop"},
      {"{Resources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !Select [3, [a]]}}}}",
       "Fn::Select cannot select nonexistent value at index 3"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.yaml);
    const auto stack = read(each.yaml);
    ASSERT_FALSE(stack.has_value());
    EXPECT_NE(stack.error().message.find(each.message), std::string::npos) << stack.error().message;
  }
}

TEST(Template, AParameterNobodyDeclaredIsAMistake) {
  Surroundings around = shop();
  around.parameters["Stege"] = "prod";
  EXPECT_FALSE(read(kOrders, around).has_value());
  around.parameters = {{"Stage", "test"}};
  EXPECT_FALSE(read(kOrders, around).has_value());
}

TEST(Template, NamesThatAreTooLongAreCutAndStayApart) {
  const std::string id(90, 'A');
  const auto stack = read(fmt::format(
      "Resources: {{{}1: {{Type: AWS::SQS::Queue, Properties: {{FifoQueue: true}}}}, {}2: {{Type: "
      "AWS::SQS::Queue, Properties: {{FifoQueue: true}}}}}}",
      id,
      id));
  ASSERT_TRUE(stack.has_value()) << stack.error().message;
  const std::string& one = stack->resources[0].name;
  EXPECT_EQ(one.size(), 80u);
  EXPECT_TRUE(one.ends_with(".fifo"));
  EXPECT_NE(one, stack->resources[1].name);
}

TEST(Template, SamFunctionsBringTheirMappings) {
  const auto stack = read(R"(
Transform: AWS::Serverless-2016-10-31
Globals: {Function: {Timeout: 7, Runtime: nodejs20.x, Environment: {Variables: {A: 1, B: 2}}}}
Resources:
  Q: {Type: AWS::SQS::Queue}
  Fn:
    Type: AWS::Serverless::Function
    Properties:
      Handler: app.handler
      CodeUri: src/
      Environment: {Variables: {B: 3}}
      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt Q.Arn}
      EventInvokeConfig: {MaximumRetryAttempts: 1, DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Q.Arn}}}
      Events:
        Work: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn, BatchSize: 4}}
        Web: {Type: Api, Properties: {Path: /, Method: get}}
)");
  ASSERT_TRUE(stack.has_value()) << stack.error().message;
  const Resource& function = find(*stack, "Fn");
  EXPECT_EQ(function.properties["Timeout"].scalar(), "7");
  EXPECT_TRUE(
      function.properties["Environment"].means(*read_json(R"({"Variables":{"A":"1","B":"3"}})")));
  EXPECT_EQ(function.properties["DeadLetterConfig"].json(),
            R"({"TargetArn":"arn:aws:sqs:eu-west-1:123456789012:shop-Q"})");
  EXPECT_EQ(function.code->path, "/project/src/");
  EXPECT_EQ(find(*stack, "FnWork").properties["BatchSize"].scalar(), "4");
  EXPECT_EQ(find(*stack, "FnEventInvokeConfig").properties["DestinationConfig"].json(),
            R"({"OnFailure":{"Destination":"arn:aws:sqs:eu-west-1:123456789012:shop-Q"}})");
  ASSERT_EQ(stack->notes.size(), 1u);
  EXPECT_NE(stack->notes[0].find("FnWeb (Api)"), std::string::npos);
}

TEST(Template, AssetsOfTheCdkAreFoundBesideIt) {
  const auto root = read_json(R"({"Resources": {
    "Listed": {"Type": "AWS::Lambda::Function", "Properties": {"Code": {
      "S3Bucket": {"Fn::Sub": "cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}"},
      "S3Key": "abc.zip"}}},
    "Named": {"Type": "AWS::Lambda::Function", "Metadata": {"aws:asset:path": "asset.def"},
      "Properties": {"Code": {"S3Bucket": "b", "S3Key": "def.zip"}}},
    "Stored": {"Type": "AWS::Lambda::Function",
      "Properties": {"Code": {"S3Bucket": "mine", "S3Key": "code/f.zip"}}},
    "CDKMetadata": {"Type": "AWS::CDK::Metadata", "Properties": {"Analytics": "v2"}}}})");
  const auto assets = read_json(R"({"files": {"abc": {
    "source": {"path": "asset.abc", "packaging": "zip"},
    "destinations": {"current_account-current_region": {"objectKey": "abc.zip"}}}}})");
  const auto stack = read_template(*root, *assets, shop());
  ASSERT_TRUE(stack.has_value()) << stack.error().message;
  EXPECT_EQ(find(*stack, "Listed").code->path, "/project/asset.abc");
  EXPECT_EQ(find(*stack, "Named").code->path, "/project/asset.def");
  EXPECT_EQ(find(*stack, "Stored").code->bucket_name, "mine");
  EXPECT_EQ(find(*stack, "Stored").code->key, "code/f.zip");
  EXPECT_TRUE(stack->notes.empty());
}

}  // namespace
}  // namespace redrive::stack
