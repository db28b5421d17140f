#include "tests/aws/cloudwatch/world.h"

namespace redrive::cloudwatch {
namespace {

constexpr std::string_view kPut =
    "Action=PutMetricAlarm&AlarmName=busy&Namespace=AWS%2FSQS&MetricName=NumberOfMessagesSent"
    "&Dimensions.member.1.Name=QueueName&Dimensions.member.1.Value=orders&Statistic=Sum&Period=60"
    "&EvaluationPeriods=3&Threshold=5&ComparisonOperator=GreaterThanThreshold";

std::string put(std::string_view more) {
  return std::string(kPut) + std::string(more);
}

// The later of two values of a parameter counts: what is wrong comes last.
TEST_F(CloudTest, AlarmsThatCannotBeMadeAreRefused) {
  struct Case {
    std::string_view more;
    std::string_view code;
  };
  const Case cases[] = {
      {"&AlarmName=", "MissingParameter"},
      {"&AlarmName=a%0Ab", "InvalidParameterValue"},
      {"&MetricName=", "MissingParameter"},
      {"&Namespace=", "MissingParameter"},
      {"&Statistic=Middle", "InvalidParameterValue"},
      {"&Statistic=p99", "InvalidParameterValue"},
      {"&ExtendedStatistic=p99", "InvalidParameterValue"},  // Both.
      {"&Statistic=", "InvalidParameterValue"},             // Neither.
      {"&Period=7", "InvalidParameterValue"},
      {"&Period=", "InvalidParameterValue"},
      {"&Period=61", "InvalidParameterValue"},
      {"&EvaluationPeriods=0", "InvalidParameterValue"},
      {"&EvaluationPeriods=1441", "InvalidParameterValue"},  // More than a day.
      {"&EvaluationPeriods=three", "InvalidParameterValue"},
      {"&DatapointsToAlarm=4", "InvalidParameterValue"},
      {"&Threshold=", "InvalidParameterValue"},
      {"&Threshold=many", "InvalidParameterValue"},
      {"&ComparisonOperator=Unlike", "InvalidParameterValue"},
      {"&ComparisonOperator=LessThanLowerThreshold", "InvalidParameterValue"},
      {"&TreatMissingData=shrug", "InvalidParameterValue"},
      {"&ActionsEnabled=perhaps", "InvalidParameterValue"},
      {"&AlarmActions.member.1=command:reboot", "InvalidParameterValue"},
      {"&AlarmActions.member.1=smtp%3A%2F%2Fhost", "InvalidParameterValue"},
      {"&AlarmActions.member.1=file%3A%2F%2F%2Fetc%2Fpasswd", "InvalidParameterValue"},
      {"&Metrics.member.1.Id=m1", "InvalidParameterValue"},
      // Targets that can never be reached.
      {"&AlarmActions.member.1=arn:aws:sqs:us-east-1:000000000000:gone", "InvalidParameterValue"},
      {"&OKActions.member.1=arn:aws:sns:us-east-1:000000000000:topic", "InvalidParameterValue"},
      {"&InsufficientDataActions.member.1=http%3A%2F%2F10.0.0.1%2F", "InvalidParameterValue"},
  };
  for (const Case& one : cases) {
    const Reply reply = query(put(one.more));
    EXPECT_EQ(reply.status, 400) << one.more;
    EXPECT_TRUE(reply.has(fmt::format("<Code>{}</Code>", one.code))) << one.more << reply.body;
  }
  EXPECT_EQ(json("DescribeAlarms", "{}").body, R"({"CompositeAlarms":[],"MetricAlarms":[]})");
}

TEST_F(CloudTest, AnAlarmIsDescribedAsItWasMade) {
  world_.create("alerts");
  const Reply made =
      query(put("&DatapointsToAlarm=2&TreatMissingData=breaching&AlarmDescription="
                "a+%26+b&Tags.member.1.Key=team&Tags.member.1.Value=shop"
                "&AlarmActions.member.1=arn:aws:sqs:us-east-1:000000000000:alerts"));
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_TRUE(made.has("<PutMetricAlarmResponse")) << made.body;
  EXPECT_FALSE(made.has("<PutMetricAlarmResult"));
  const Reply xml = query("Action=DescribeAlarms&AlarmNames.member.1=busy");
  for (const std::string_view part :
       {"<AlarmName>busy</AlarmName>",
        "<AlarmArn>arn:aws:cloudwatch:us-east-1:000000000000:alarm:busy</AlarmArn>",
        "<AlarmDescription>a &amp; b</AlarmDescription>",
        "<StateValue>INSUFFICIENT_DATA</StateValue>",
        "<EvaluationPeriods>3</EvaluationPeriods>",
        "<DatapointsToAlarm>2</DatapointsToAlarm>",
        "<Threshold>5.0</Threshold>",
        "<TreatMissingData>breaching</TreatMissingData>",
        "<Dimensions><member><Name>QueueName</Name><Value>orders</Value></member></Dimensions>",
        "<AlarmActions><member>arn:aws:sqs:us-east-1:000000000000:alerts</member></AlarmActions>",
        "<ActionsEnabled>true</ActionsEnabled>"}) {
    EXPECT_TRUE(xml.has(part)) << part << xml.body;
  }
  const Reply told = json("DescribeAlarms", R"({"AlarmNamePrefix":"bu"})");
  for (const std::string_view part : {R"("AlarmName":"busy")",
                                      R"("Threshold":5.0)",
                                      R"("Period":60)",
                                      R"("ActionsEnabled":true)",
                                      R"("OKActions":[])"}) {
    EXPECT_TRUE(told.has(part)) << part << told.body;
  }
  const Reply tags =
      json("ListTagsForResource",
           R"({"ResourceARN":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:busy"})");
  EXPECT_EQ(tags.body, R"({"Tags":[{"Key":"team","Value":"shop"}]})");
}

// What was not said is not told: Terraform would find a difference.
TEST_F(CloudTest, DefaultsAreNotTold) {
  EXPECT_EQ(query(kPut).status, 200);
  const Reply reply = json("DescribeAlarms", "{}");
  EXPECT_FALSE(reply.has("DatapointsToAlarm")) << reply.body;
  EXPECT_FALSE(reply.has("TreatMissingData"));
  EXPECT_FALSE(reply.has("AlarmDescription"));
}

TEST_F(CloudTest, StatesAreSetAndRemembered) {
  query(kPut);
  const Reply unknown =
      query("Action=SetAlarmState&AlarmName=none&StateValue=OK&StateReason=because");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_TRUE(unknown.has("<Code>ResourceNotFound</Code>")) << unknown.body;
  EXPECT_EQ(query("Action=SetAlarmState&AlarmName=busy&StateValue=GOOD&StateReason=r").status, 400);
  EXPECT_EQ(query("Action=SetAlarmState&AlarmName=busy&StateValue=ALARM").status, 400);
  const Reply set =
      json("SetAlarmState", R"({"AlarmName":"busy","StateValue":"ALARM","StateReason":"try it"})");
  EXPECT_EQ(set.status, 200);
  EXPECT_EQ(set.body, "{}");
  const Reply found = query("Action=DescribeAlarms&StateValue=ALARM");
  EXPECT_TRUE(found.has("<StateReason>try it</StateReason>")) << found.body;
  EXPECT_FALSE(query("Action=DescribeAlarms&StateValue=OK").has("busy"));
  const Reply history =
      query("Action=DescribeAlarmHistory&AlarmName=busy&HistoryItemType=StateUpdate");
  EXPECT_TRUE(history.has("<HistoryItemType>StateUpdate</HistoryItemType>")) << history.body;
}

TEST_F(CloudTest, TheHistorySaysWhatBecameOfAnAction) {
  world_.create("alerts");
  ASSERT_EQ(query(put("&AlarmActions.member.1=arn:aws:sqs:us-east-1:000000000000:alerts")).status,
            200);
  query("Action=SetAlarmState&AlarmName=busy&StateValue=ALARM&StateReason=r");
  ASSERT_TRUE(notifier_.wait_idle(std::chrono::seconds(30)));
  const Reply history =
      json("DescribeAlarmHistory", R"({"AlarmName":"busy","HistoryItemType":"Action"})");
  for (const std::string_view part :
       {R"("HistorySummary":"Successfully executed action arn:aws:sqs:)",
        R"(\"actionState\":\"Succeeded\")",
        R"(\"notificationResource\":\"arn:aws:sqs:us-east-1:000000000000:alerts\")"}) {
    EXPECT_TRUE(history.has(part)) << part << history.body;
  }
  const Reply states =
      json("DescribeAlarmHistory", R"({"AlarmName":"busy","HistoryItemType":"StateUpdate"})");
  EXPECT_TRUE(states.has(R"(\"newState\":{\"stateValue\":\"ALARM\",\"stateReason\":\"r\"})"))
      << states.body;
}

TEST_F(CloudTest, ReasonsOfStatesAreBounded) {
  query(kPut);
  const std::string set = "Action=SetAlarmState&AlarmName=busy&StateValue=ALARM&StateReason=";
  EXPECT_EQ(query(set + std::string(1024, 'r')).status, 400);
  EXPECT_EQ(query(set + "r&StateReasonData=" + std::string(4001, '1')).status, 400);
  const Reply not_json = query(set + "r&StateReasonData=%7B");
  EXPECT_TRUE(not_json.has("StateReasonData was not valid JSON")) << not_json.body;
  EXPECT_EQ(query(set + "r&StateReasonData=%7B%22a%22%3A1%7D").status, 200);
}

TEST_F(CloudTest, ActionsAreSwitchedAndAlarmsDeletedWhetherTheyAreThereOrNot) {
  query(kPut);
  EXPECT_EQ(
      query("Action=DisableAlarmActions&AlarmNames.member.1=busy&AlarmNames.member.2=none").status,
      200);
  EXPECT_TRUE(query("Action=DescribeAlarms").has("<ActionsEnabled>false</ActionsEnabled>"));
  EXPECT_EQ(json("EnableAlarmActions", R"({"AlarmNames":["busy"]})").status, 200);
  EXPECT_TRUE(query("Action=DescribeAlarms").has("<ActionsEnabled>true</ActionsEnabled>"));
  EXPECT_EQ(json("DeleteAlarms", R"({"AlarmNames":["busy","none"]})").status, 200);
  EXPECT_FALSE(query("Action=DescribeAlarms").has("busy"));
}

TEST_F(CloudTest, ManyAlarmsComeInPages) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(query(put(fmt::format("&AlarmName=alarm-{}", i))).status, 200);
  }
  const Reply first = json("DescribeAlarms", R"({"MaxRecords":2})");
  EXPECT_TRUE(first.has(R"("NextToken":"alarm-1")")) << first.body;
  const Reply last = json("DescribeAlarms", R"({"MaxRecords":3,"NextToken":"alarm-1"})");
  EXPECT_TRUE(last.has("alarm-2") && last.has("alarm-4")) << last.body;
  EXPECT_FALSE(last.has("NextToken"));
}

TEST_F(CloudTest, AlarmsOfAMetricAreFoundByIt) {
  query(kPut);
  constexpr std::string_view kOf =
      "Action=DescribeAlarmsForMetric&Namespace=AWS%2FSQS&MetricName=NumberOfMessagesSent"
      "&Dimensions.member.1.Name=QueueName&Dimensions.member.1.Value=";
  EXPECT_TRUE(query(std::string(kOf) + "orders").has("<AlarmName>busy</AlarmName>"));
  EXPECT_FALSE(query(std::string(kOf) + "others").has("busy"));
}

}  // namespace
}  // namespace redrive::cloudwatch
