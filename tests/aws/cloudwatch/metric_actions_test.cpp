#include "tests/aws/cloudwatch/world.h"

namespace redrive::cloudwatch {
namespace {

using metrics::QueueMetric;

// Of the minutes 0, 1 and 3; the second and whatever is behind is missing.
class MetricsTest : public CloudTest {
 protected:
  MetricsTest() {
    measured(0,
             {{QueueMetric::visible, 10},
              {QueueMetric::sent, 4},
              {QueueMetric::sent_bytes, 400},
              {QueueMetric::sent_bytes_min, 50},
              {QueueMetric::sent_bytes_max, 200}});
    measured(1, {{QueueMetric::visible, 20}, {QueueMetric::sent, 0}, {QueueMetric::sent_bytes, 0}});
    measured(3,
             {{QueueMetric::visible, 60},
              {QueueMetric::sent, 2},
              {QueueMetric::sent_bytes, 20},
              {QueueMetric::sent_bytes_min, 10},
              {QueueMetric::sent_bytes_max, 10}});
  }
};

std::string statistics(std::string_view metric, int period, std::string_view statistic,
                       int minutes = 5) {
  const bool extended = statistic.starts_with('p');
  return fmt::format(
      "Action=GetMetricStatistics&Namespace=AWS%2FSQS&MetricName={}"
      "&Dimensions.member.1.Name=QueueName&Dimensions.member.1.Value=orders"
      "&StartTime=2026-01-01T00%3A00%3A00Z&EndTime=2026-01-01T00%3A{:02}%3A00Z&Period={}"
      "&{}.member.1={}",
      metric,
      minutes,
      period,
      extended ? "ExtendedStatistics" : "Statistics",
      statistic);
}

// The numbers of an answer with their minutes, as "0=10.0 1=20.0".
std::string points(const Reply& reply, std::string_view statistic) {
  std::string out;
  for (std::size_t at = reply.body.find("<Timestamp>2026-01-01T00:"); at != std::string::npos;
       at = reply.body.find("<Timestamp>2026-01-01T00:", at + 1)) {
    const int minute = std::stoi(reply.body.substr(at + 25, 2));
    const std::string open = fmt::format("<{}>", statistic.starts_with('p') ? "value" : statistic);
    const std::size_t value = reply.body.find(open, at) + open.size();
    const std::string text = reply.body.substr(value, reply.body.find('<', value) - value);
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", minute, text);
  }
  return out;
}

TEST_F(MetricsTest, StatisticsByPeriod) {
  struct Case {
    std::string_view metric;
    int period;
    std::string_view statistic;
    std::string_view points;
  };
  const Case cases[] = {
      {"ApproximateNumberOfMessagesVisible", 60, "Maximum", "0=10.0 1=20.0 3=60.0"},
      {"ApproximateNumberOfMessagesVisible", 60, "SampleCount", "0=1.0 1=1.0 3=1.0"},
      {"ApproximateNumberOfMessagesVisible", 120, "Average", "0=15.0 2=60.0"},
      {"ApproximateNumberOfMessagesVisible", 120, "Minimum", "0=10.0 2=60.0"},
      {"ApproximateNumberOfMessagesVisible", 300, "Sum", "0=90.0"},
      {"ApproximateNumberOfMessagesVisible", 300, "SampleCount", "0=3.0"},
      {"ApproximateNumberOfMessagesVisible", 300, "p50", "0=20.0"},
      {"ApproximateNumberOfMessagesVisible", 300, "p99.9", "0=60.0"},
      {"NumberOfMessagesSent", 60, "Sum", "0=4.0 1=0.0 3=2.0"},
      {"NumberOfMessagesSent", 300, "Sum", "0=6.0"},
      // As many samples as there were messages, and none where there were none.
      {"SentMessageSize", 60, "SampleCount", "0=4.0 3=2.0"},
      {"SentMessageSize", 60, "Average", "0=100.0 3=10.0"},
      {"SentMessageSize", 300, "Minimum", "0=10.0"},
      {"SentMessageSize", 300, "Maximum", "0=200.0"},
      // Nobody measured these, or they do not exist.
      {"ApproximateNumberOfNoisyGroups", 60, "Maximum", ""},
      {"NoSuchMetric", 60, "Sum", ""},
  };
  for (const Case& one : cases) {
    const Reply reply = query(statistics(one.metric, one.period, one.statistic));
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(points(reply, one.statistic), one.points)
        << one.metric << " " << one.period << " " << one.statistic << reply.body;
  }
}

TEST_F(MetricsTest, StatisticsSayTheirUnitAndLabel) {
  const Reply reply = query(statistics("SentMessageSize", 60, "Sum"));
  EXPECT_TRUE(reply.has("<Label>SentMessageSize</Label>")) << reply.body;
  EXPECT_TRUE(reply.has("<Unit>Bytes</Unit>"));
  EXPECT_TRUE(reply.has("<ResponseMetadata><RequestId>"));
  EXPECT_EQ(reply.type, "text/xml");
}

TEST_F(MetricsTest, StatisticsInJson) {
  const Reply reply = json("GetMetricStatistics", R"({"Namespace":"AWS/SQS",
      "MetricName":"ApproximateNumberOfMessagesVisible",
      "Dimensions":[{"Name":"QueueName","Value":"orders"}],
      "StartTime":1767225600,"EndTime":1767225720.0,"Period":60,"Statistics":["Maximum","Sum"]})");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.type, "application/x-amz-json-1.0");
  EXPECT_EQ(reply.body,
            R"({"Label":"ApproximateNumberOfMessagesVisible","Datapoints":[)"
            R"({"Timestamp":1767225600.000,"Maximum":10.0,"Sum":10.0,"Unit":"Count"},)"
            R"({"Timestamp":1767225660.000,"Maximum":20.0,"Sum":20.0,"Unit":"Count"}]})");
}

// {"name":[...]} and the like: what a query asks for, with one thing different.
std::string data(std::string_view more = {}, std::string_view id = "m1") {
  return fmt::format(
      "Action=GetMetricData&StartTime=2026-01-01T00%3A00%3A00Z&EndTime=2026-01-01T00%3A05%3A00Z"
      "&MetricDataQueries.member.1.Id={}"
      "&MetricDataQueries.member.1.MetricStat.Metric.Namespace=AWS%2FSQS"
      "&MetricDataQueries.member.1.MetricStat.Metric.MetricName=NumberOfMessagesSent"
      "&MetricDataQueries.member.1.MetricStat.Metric.Dimensions.member.1.Name=QueueName"
      "&MetricDataQueries.member.1.MetricStat.Metric.Dimensions.member.1.Value=orders"
      "&MetricDataQueries.member.1.MetricStat.Period=60"
      "&MetricDataQueries.member.1.MetricStat.Stat=Sum{}",
      id,
      more);
}

TEST_F(MetricsTest, DataComesLatestFirstUnlessAskedOtherwise) {
  const auto values = [](std::string_view first, std::string_view second, std::string_view third) {
    return fmt::format("<Values><member>{}</member><member>{}</member><member>{}</member></Values>",
                       first,
                       second,
                       third);
  };
  const Reply latest = query(data());
  EXPECT_TRUE(latest.has(values("2.0", "0.0", "4.0"))) << latest.body;
  EXPECT_TRUE(latest.has("<Id>m1</Id><Label>NumberOfMessagesSent</Label>"));
  EXPECT_TRUE(latest.has("<StatusCode>Complete</StatusCode>"));
  const Reply oldest = query(data("&ScanBy=TimestampAscending&MetricDataQueries.member.1.Label=x"));
  EXPECT_TRUE(oldest.has(values("4.0", "0.0", "2.0"))) << oldest.body;
  EXPECT_TRUE(oldest.has("<Label>x</Label>"));
  const Reply hidden = query(data("&MetricDataQueries.member.1.ReturnData=false"));
  EXPECT_EQ(hidden.status, 200);
  EXPECT_FALSE(hidden.has("<Id>m1</Id>"));
}

TEST_F(MetricsTest, WhatIsWrongIsNamedInBothProtocols) {
  struct Case {
    std::string form;
    int status;
    std::string_view code;
  };
  const Case cases[] = {
      {statistics("X", 7, "Sum"), 400, "InvalidParameterValue"},
      {statistics("X", 0, "Sum"), 400, "InvalidParameterValue"},
      {statistics("X", 60, "Sum", 0), 400, "InvalidParameterValue"},  // It ends where it begins.
      {statistics("X", 60, "Middle"), 400, "InvalidParameterValue"},
      {statistics("X", 60, "p101"), 400, "InvalidParameterValue"},
      {statistics("", 60, "Sum"), 400, "MissingParameter"},
      {"Action=GetMetricStatistics&Namespace=N&MetricName=M&Period=60&Statistics.member.1=Sum",
       400,
       "MissingParameter"},
      {"Action=GetMetricStatistics&Namespace=N&MetricName=M&Period=60&Statistics.member.1=Sum"
       "&StartTime=yesterday&EndTime=2026-01-01T00:00:00Z",
       400,
       "InvalidParameterValue"},
      {"Action=GetMetricStatistics&Namespace=N&MetricName=M&Period=60&Statistics.member.1=Sum"
       "&StartTime=2020-01-01T00:00:00Z&EndTime=2026-01-01T00:00:00Z",  // Too many points.
       400,
       "InvalidParameterValue"},
      {"Action=GetMetricData&StartTime=2026-01-01T00:00:00Z&EndTime=2026-01-01T00:05:00Z",
       400,
       "MissingParameter"},
      {data("&MetricDataQueries.member.1.Expression=m1*2"), 400, "InvalidParameterValue"},
      {data({}, ""), 400, "MissingParameter"},
      {"Action=GetMetricWidgetImage", 400, "InvalidAction"},
      {"Action=", 400, "MissingAction"},
      {"Action=GetMetricData&StartTime=%ff", 400, "MalformedInput"},
  };
  for (const Case& one : cases) {
    const Reply reply = query(one.form);
    EXPECT_EQ(reply.status, one.status) << one.form;
    EXPECT_TRUE(reply.has(fmt::format("<Error><Type>Sender</Type><Code>{}</Code>", one.code)))
        << one.form << "\n"
        << reply.body;
  }
  const Reply unknown = json("GetMetricWidgetImage", "{}");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_TRUE(unknown.has(R"({"__type":"InvalidAction","message":)")) << unknown.body;
  const Reply torn = json("GetMetricData", R"({"StartTime":)");
  EXPECT_EQ(torn.status, 400);
  EXPECT_TRUE(torn.has(R"("__type":"MalformedInput")")) << torn.body;
}

TEST_F(MetricsTest, CborIsToldWhatToUse) {
  const Reply reply = ask({{"Smithy-Protocol", "rpc-v2-cbor"}}, "");
  EXPECT_EQ(reply.status, 415);
  EXPECT_TRUE(reply.has("AWS JSON 1.0"));
}

TEST_F(MetricsTest, OnlyWhatWasMeasuredIsListed) {
  const Reply reply = query("Action=ListMetrics&Namespace=AWS%2FSQS");
  EXPECT_TRUE(reply.has("<MetricName>NumberOfMessagesSent</MetricName>")) << reply.body;
  EXPECT_TRUE(reply.has("<Name>QueueName</Name><Value>orders</Value>"));
  EXPECT_FALSE(reply.has("NoisyGroups"));
  EXPECT_FALSE(reply.has("GroupsWithInflightMessages"));  // Of FIFO queues.
  measured(4, {{QueueMetric::visible, 1}, {QueueMetric::noisy_groups, 0}});
  EXPECT_TRUE(query("Action=ListMetrics&Namespace=AWS%2FSQS").has("NoisyGroups"));
  const Reply other =
      json("ListMetrics", R"({"Dimensions":[{"Name":"QueueName","Value":"other"}]})");
  EXPECT_EQ(other.body, R"({"Metrics":[]})");
}

TEST(IsCloudWatchRequest, BySignatureTargetOrVersion) {
  struct Case {
    std::vector<http::Header> headers;
    std::string_view path;
    std::string_view body;
    bool expected;
  };
  const http::Header monitoring{"Authorization",
                                "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/monitoring/"
                                "aws4_request, SignedHeaders=host, Signature=00"};
  const http::Header sqs{"Authorization",
                         "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/sqs/aws4_request, "
                         "SignedHeaders=host, Signature=00"};
  const Case cases[] = {
      {{monitoring}, "/", "Action=ListMetrics", true},
      {{sqs}, "/", "Action=ListQueues&Version=2010-08-01", false},
      {{{"X-Amz-Target", "GraniteServiceVersion20100801.ListMetrics"}}, "/", "{}", true},
      {{{"X-Amz-Target", "AmazonSQS.ListQueues"}}, "/", "{}", false},
      {{}, "/service/GraniteServiceVersion20100801/operation/ListMetrics", "", true},
      {{}, "/", "Action=ListMetrics&Version=2010-08-01", true},
      {{}, "/", "Action=ListQueues&Version=2012-11-05", false},
  };
  for (const Case& one : cases) {
    http::Request request;
    request.path = one.path;
    request.headers = one.headers;
    request.body = one.body;
    EXPECT_EQ(is_cloudwatch_request(request), one.expected) << one.body;
  }
}

}  // namespace
}  // namespace redrive::cloudwatch
