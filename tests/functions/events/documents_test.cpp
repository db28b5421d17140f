#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <vector>

#include "base/calendar.h"
#include "functions/events/event_document.h"
#include "functions/events/record_documents.h"

namespace redrive::events {
namespace {

const EventSource kSource{.arn = "arn:aws:sqs:us-east-2:123456789012:q.fifo",
                          .region = "us-east-2"};

std::string one_record_document(const Record& record) {
  const EventFrame frame = event_frame(kSource);
  std::string encoded;
  append_record(encoded, record, frame);
  const std::string_view views[] = {encoded};
  return event_document(views, frame);
}

TEST(EventDocument, WritesKeysInTheirOrder) {
  Record record;
  record.message_id = "11d6ee51-0000-4302-9e22-7cd8afdaadf5";
  record.receipt_handle = "AQEB";
  record.body = "{\"n\":1}";
  record.attributes = {{"ApproximateReceiveCount", "1"}, {"SentTimestamp", "1573251510774"}};
  record.message_attributes = {{"retryCount", "Number", "2"},
                               {"blob", "Binary", std::string_view("\0\1", 2), true}};
  record.md5_of_message_attributes = "m1";
  record.md5_of_body = "m2";
  EXPECT_EQ(
      one_record_document(record),
      R"({"Records":[{"messageId":"11d6ee51-0000-4302-9e22-7cd8afdaadf5","receiptHandle":"AQEB",)"
      R"("body":"{\"n\":1}","attributes":{"ApproximateReceiveCount":"1","SentTimestamp":"1573251510774"},)"
      R"("messageAttributes":{"retryCount":{"stringValue":"2","stringListValues":[],"binaryListValues":[],)"
      R"("dataType":"Number"},"blob":{"binaryValue":"AAE=","stringListValues":[],"binaryListValues":[],)"
      R"("dataType":"Binary"}},"md5OfMessageAttributes":"m1","md5OfBody":"m2","eventSource":"aws:sqs",)"
      R"("eventSourceARN":"arn:aws:sqs:us-east-2:123456789012:q.fifo","awsRegion":"us-east-2"}]})");
}

TEST(EventDocument, HasNoSumOfNoAttributes) {
  Record record;
  record.body = "x";
  const std::string text = one_record_document(record);
  EXPECT_NE(text.find(R"("messageAttributes":{},"md5OfBody")"), std::string::npos) << text;
}

TEST(AsyncRecord, TellsOfSuccess) {
  EXPECT_EQ(
      write_async_record({.wall = *parse_utc("2019-11-14T18:16:05.568Z"),
                          .request_id = "r1",
                          .function_arn = "arn:f:$LATEST",
                          .condition = "Success",
                          .invoke_count = 1,
                          .request_payload = R"({"a":1})",
                          .outcome = {.payload = "[2]"}}),
      R"({"version":"1.0","timestamp":"2019-11-14T18:16:05.568Z","requestContext":{"requestId":"r1",)"
      R"("functionArn":"arn:f:$LATEST","condition":"Success","approximateInvokeCount":1},)"
      R"("requestPayload":{"a":1},"responseContext":{"statusCode":200,"executedVersion":"$LATEST"},)"
      R"("responsePayload":[2]})");
}

TEST(AsyncRecord, TellsOfFailure) {
  const std::string text =
      write_async_record({.wall = Timestamp(0),
                          .request_id = "r1",
                          .function_arn = "f",
                          .condition = "RetriesExhausted",
                          .invoke_count = 3,
                          .request_payload = "1",
                          .outcome = {.function_error = true, .payload = "no \"JSON\""}});
  EXPECT_NE(text.find(R"("functionError":"Unhandled"},"responsePayload":"no \"JSON\""})"),
            std::string::npos)
      << text;
}

TEST(BatchRecord, CarriesTheMessages) {
  const std::string_view ids[] = {"m1", "m2"};
  const std::vector<std::string_view> records = {R"({"messageId":"m1"})", R"({"messageId":"m2"})"};
  BatchRecord record{.wall = *parse_utc("2019-11-14T00:38:06.021Z"),
                     .request_id = "r1",
                     .function_arn = "arn:f",
                     .condition = "RetryAttemptsExhausted",
                     .invoke_count = 2,
                     .outcome = InvocationOutcome{.function_error = true, .payload = "{}"},
                     .queue_arn = "arn:q",
                     .message_ids = ids,
                     .first_arrival = Timestamp(0),
                     .last_arrival = Timestamp(1),
                     .records = records};
  EXPECT_EQ(
      write_batch_record(record),
      R"({"requestContext":{"requestId":"r1","functionArn":"arn:f","condition":"RetryAttemptsExhausted",)"
      R"("approximateInvokeCount":2},"responseContext":{"statusCode":200,"executedVersion":"$LATEST",)"
      R"("functionError":"Unhandled"},"version":"1.0","timestamp":"2019-11-14T00:38:06.021Z",)"
      R"("SQSBatchInfo":{"queueArn":"arn:q","batchSize":2,"messageIds":["m1","m2"],)"
      R"("approximateArrivalOfFirstRecord":"1970-01-01T00:00:00.000Z",)"
      R"("approximateArrivalOfLastRecord":"1970-01-01T00:00:00.001Z"},)"
      R"("payload":{"Records":[{"messageId":"m1"},{"messageId":"m2"}]},"responsePayload":{}})");
  record.outcome->function_error = false;
  record.reported_by_item = true;
  EXPECT_NE(write_batch_record(record).find(R"("functionError":null})"), std::string::npos);
  record.outcome.reset();
  EXPECT_EQ(write_batch_record(record).find("respon"), std::string::npos);
}

TEST(RecordKeys, AreDated) {
  const Timestamp wall = *parse_utc("2026-03-09T07:05:01.999Z");
  EXPECT_EQ(async_record_key("f", wall, "u"),
            "aws/lambda/async/f/2026/03/09/2026-03-09T07.05.01-u");
  EXPECT_EQ(batch_record_key("map", "q", wall, "u"),
            "aws/lambda/map/q/2026/03/09/2026-03-09T07.05.01-u");
}

}  // namespace
}  // namespace redrive::events
