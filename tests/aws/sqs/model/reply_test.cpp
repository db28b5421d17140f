#include "aws/sqs/model/reply.h"

#include <gtest/gtest.h>

#include "aws/sqs/model/actions.h"
#include "aws/sqs/model/errors.h"
#include "tests/aws/sqs/model/samples.h"

namespace redrive::sqs {
namespace {

constexpr std::string_view kRequestId = "b6633655-283d-45b4-aee4-4e84e0ae6afa";

template <class Output>
std::string json(const Output& output) {
  std::string out;
  wire::encode_json(out, output);
  return out;
}

template <class Action>
std::string xml(const typename Action::Output& output) {
  std::string out;
  encode_query_reply<Action>(out, output, kRequestId);
  return out;
}

std::string json_error(const Error& error) {
  std::string out;
  encode_json_error(out, error);
  return out;
}

std::string query_error(const Error& error) {
  std::string out;
  encode_query_error(out, error, "42d59b56-7407-4c4a-be0f-4c88daeea257");
  return out;
}

const Error kNoQueue{ErrorCode::queue_does_not_exist, "The specified queue does not exist."};

TEST(JsonReply, OmitsEmptyCollections) {
  EXPECT_EQ(json(ReceiveMessageOutput{}), "{}");
  EXPECT_EQ(json(ListQueuesOutput{}), "{}");
  EXPECT_EQ(json(ListQueueTagsOutput{}), "{}");
  EXPECT_EQ(json(GetQueueAttributesOutput{}), "{}");
  EXPECT_EQ(json(DeleteQueueOutput{}), "{}");
  EXPECT_EQ(json(ListDeadLetterSourceQueuesOutput{}), R"({"queueUrls":[]})");
}

TEST(JsonReply, IsAsTheReferenceShowsIt) {
  EXPECT_EQ(json(CreateQueueOutput{.queue_url = kUrl}),
            R"({"QueueUrl":"http://127.0.0.1:9324/000000000000/orders"})");
  EXPECT_EQ(json(SendMessageOutput{.message_id = sample_id(), .md5_of_message_body = md5("one")}),
            R"({"MessageId":"5fea7756-0ea4-451a-a703-a558b933e274",)"
            R"("MD5OfMessageBody":"f97c5d29941bfb1b2fdab0874906ab82"})");
  EXPECT_EQ(json(DeleteMessageBatchOutput{
                .successful = {{.id = "0"}},
                .failed = {{.id = "1",
                            .sender_fault = true,
                            .code = "ReceiptHandleIsInvalid",
                            .message =
                                "The input receipt handle \"x\" is not a valid receipt handle."}}}),
            R"({"Successful":[{"Id":"0"}],"Failed":[{"Id":"1","SenderFault":true,)"
            R"("Code":"ReceiptHandleIsInvalid",)"
            R"("Message":"The input receipt handle \"x\" is not a valid receipt handle."}]})");
  EXPECT_EQ(
      json(
          ReceiveMessageOutput{.messages = {{.message_id = sample_id(),
                                             .receipt_handle = "AQEB",
                                             .md5_of_body = md5("one"),
                                             .body = "one",
                                             .attributes = {{"SentTimestamp", "1767268800000"}}}}}),
      R"({"Messages":[{"MessageId":"5fea7756-0ea4-451a-a703-a558b933e274","ReceiptHandle":"AQEB",)"
      R"("MD5OfBody":"f97c5d29941bfb1b2fdab0874906ab82","Body":"one",)"
      R"("Attributes":{"SentTimestamp":"1767268800000"}}]})");
  auto tasks = sample<ListMessageMoveTasksOutput>();
  tasks.results.pop_back();
  tasks.results[0].destination_arn = "arn:aws:sqs:us-east-1:000000000000:orders";
  EXPECT_EQ(json(tasks),
            R"({"Results":[{"TaskHandle":"eyJ0","Status":"RUNNING",)"
            R"("SourceArn":"arn:aws:sqs:us-east-1:000000000000:orders-dlq",)"
            R"("DestinationArn":"arn:aws:sqs:us-east-1:000000000000:orders",)"
            R"("MaxNumberOfMessagesPerSecond":50,"ApproximateNumberOfMessagesMoved":2,)"
            R"("ApproximateNumberOfMessagesToMove":10,"StartedTimestamp":1767268800000}]})");
}

TEST(QueryReply, IsAsTheReferenceShowsIt) {
  const ReceiveMessageOutput output{
      .messages = {{.message_id = sample_id(),
                    .receipt_handle = "AQEB",
                    .md5_of_body = md5("hello"),
                    .body = "hello",
                    .attributes = {{"ApproximateReceiveCount", "1"}},
                    .md5_of_message_attributes = md5("x"),
                    .message_attributes = {{"n", {.data_type = "String", .string_value = "s"}}}}}};
  EXPECT_EQ(xml<ReceiveMessage>(output),
            "<?xml version=\"1.0\"?>"
            "<ReceiveMessageResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\">"
            "<ReceiveMessageResult><Message>"
            "<MessageId>5fea7756-0ea4-451a-a703-a558b933e274</MessageId>"
            "<ReceiptHandle>AQEB</ReceiptHandle>"
            "<MD5OfBody>5d41402abc4b2a76b9719d911017c592</MD5OfBody>"
            "<Body>hello</Body>"
            "<Attribute><Name>ApproximateReceiveCount</Name><Value>1</Value></Attribute>"
            "<MD5OfMessageAttributes>9dd4e461268c8034f5c8564e155c67a6</MD5OfMessageAttributes>"
            "<MessageAttribute><Name>n</Name><Value><StringValue>s</StringValue>"
            "<DataType>String</DataType></Value></MessageAttribute>"
            "</Message></ReceiveMessageResult>"
            "<ResponseMetadata><RequestId>b6633655-283d-45b4-aee4-4e84e0ae6afa</RequestId>"
            "</ResponseMetadata></ReceiveMessageResponse>");
}

// The element between <XResult> and </XResult> for each output of the reference's table.
TEST(QueryReply, FlattensEveryOutput) {
  const auto result = [](std::string text, std::string_view action) {
    const std::string open = "<" + std::string(action) + "Result>";
    const std::string close = "</" + std::string(action) + "Result>";
    const auto from = text.find(open) + open.size();
    return text.substr(from, text.find(close) - from);
  };
  EXPECT_EQ(result(xml<GetQueueAttributes>({.attributes = {{"a", "1"}, {"b", "2"}}}),
                   "GetQueueAttributes"),
            "<Attribute><Name>a</Name><Value>1</Value></Attribute>"
            "<Attribute><Name>b</Name><Value>2</Value></Attribute>");
  EXPECT_EQ(result(xml<ListQueueTags>({.tags = {{"k", "v"}}}), "ListQueueTags"),
            "<Tag><Key>k</Key><Value>v</Value></Tag>");
  EXPECT_EQ(result(xml<ListQueues>({.queue_urls = {"u", "v"}}), "ListQueues"),
            "<QueueUrl>u</QueueUrl><QueueUrl>v</QueueUrl>");
  EXPECT_EQ(result(xml<ListDeadLetterSourceQueues>({.queue_urls = {"u"}, .next_token = "t"}),
                   "ListDeadLetterSourceQueues"),
            "<QueueUrl>u</QueueUrl><NextToken>t</NextToken>");
  EXPECT_EQ(
      result(xml<DeleteMessageBatch>(
                 {.successful = {{.id = "a"}},
                  .failed = {{.id = "b", .sender_fault = true, .code = "C", .message = "M"}}}),
             "DeleteMessageBatch"),
      "<DeleteMessageBatchResultEntry><Id>a</Id></DeleteMessageBatchResultEntry>"
      "<BatchResultErrorEntry><Id>b</Id><SenderFault>true</SenderFault><Code>C</Code>"
      "<Message>M</Message></BatchResultErrorEntry>");
  EXPECT_EQ(result(xml<ChangeMessageVisibilityBatch>({.successful = {{.id = "a"}}}),
                   "ChangeMessageVisibilityBatch"),
            "<ChangeMessageVisibilityBatchResultEntry><Id>a</Id>"
            "</ChangeMessageVisibilityBatchResultEntry>");
  EXPECT_EQ(result(xml<SendMessageBatch>({.successful = {{.id = "a",
                                                          .message_id = sample_id(),
                                                          .md5_of_message_body = md5("one")}}}),
                   "SendMessageBatch"),
            "<SendMessageBatchResultEntry><Id>a</Id>"
            "<MessageId>5fea7756-0ea4-451a-a703-a558b933e274</MessageId>"
            "<MD5OfMessageBody>f97c5d29941bfb1b2fdab0874906ab82</MD5OfMessageBody>"
            "</SendMessageBatchResultEntry>");
  EXPECT_EQ(
      result(xml<ListMessageMoveTasks>({.results = {{.status = "FAILED", .source_arn = "s"}}}),
             "ListMessageMoveTasks"),
      "<ListMessageMoveTasksResultEntry><Status>FAILED</Status><SourceArn>s</SourceArn>"
      "<ApproximateNumberOfMessagesMoved>0</ApproximateNumberOfMessagesMoved>"
      "<StartedTimestamp>0</StartedTimestamp></ListMessageMoveTasksResultEntry>");
}

TEST(QueryReply, HasAResultOnlyWhereThereIsAnOutput) {
  EXPECT_EQ(xml<DeleteQueue>({}),
            "<?xml version=\"1.0\"?>"
            "<DeleteQueueResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\">"
            "<ResponseMetadata><RequestId>b6633655-283d-45b4-aee4-4e84e0ae6afa</RequestId>"
            "</ResponseMetadata></DeleteQueueResponse>");
  EXPECT_NE(xml<ReceiveMessage>({}).find("\"><ReceiveMessageResult/><ResponseMetadata>"),
            std::string::npos);
}

TEST(QueryReply, HasAJsonRendition) {
  std::string out;
  encode_query_reply_as_json<ListQueues>(out, {.queue_urls = {"u"}, .next_token = "t"}, "r");
  EXPECT_EQ(out,
            R"({"ListQueuesResponse":{"ListQueuesResult":{"queueUrls":["u"],"NextToken":"t"},)"
            R"("ResponseMetadata":{"RequestId":"r"}}})");
  out.clear();
  encode_query_reply_as_json<DeleteQueue>(out, {}, "r");
  EXPECT_EQ(out, R"({"DeleteQueueResponse":{"ResponseMetadata":{"RequestId":"r"}}})");
  out.clear();
  encode_query_reply_as_json<ReceiveMessage>(out, sample<ReceiveMessageOutput>(), "r");
  EXPECT_TRUE(
      out.starts_with(R"({"ReceiveMessageResponse":{"ReceiveMessageResult":{"messages":[{)"));
}

TEST(QueryReply, MapsAreListsOfPairsInTheJsonRendition) {
  std::string out;
  encode_query_reply_as_json<GetQueueAttributes>(
      out, {.attributes = {{"DelaySeconds", "0"}, {"Policy", "{\"a\"}"}}}, "r");
  EXPECT_EQ(out,
            R"({"GetQueueAttributesResponse":{"GetQueueAttributesResult":{"Attributes":[)"
            R"({"Name":"DelaySeconds","Value":"0"},{"Name":"Policy","Value":"{\"a\"}"}]},)"
            R"("ResponseMetadata":{"RequestId":"r"}}})");
  out.clear();
  encode_query_reply_as_json<ListQueueTags>(out, {.tags = {{"k", "v"}}}, "r");
  EXPECT_NE(out.find(R"("Tags":[{"Key":"k","Value":"v"}])"), std::string::npos) << out;
}

TEST(QueryError, HasAJsonRendition) {
  std::string out;
  encode_query_error_as_json(out, Error{ErrorCode::invalid_action, "say \"x\""}, "r");
  EXPECT_EQ(out,
            R"({"Error":{"Type":"Sender","Code":"InvalidAction","Message":"say \"x\"",)"
            R"("Detail":null},"RequestId":"r"})");
}

TEST(JsonError, IsAsTheReferenceShowsIt) {
  EXPECT_EQ(json_error(kNoQueue),
            R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist",)"
            R"("message":"The specified queue does not exist."})");
  std::string header;
  append_query_error_header(header, kNoQueue);
  EXPECT_EQ(header, "AWS.SimpleQueueService.NonExistentQueue;Sender");
  header.clear();
  append_query_error_header(header, Error{ErrorCode::internal_failure, "x"});
  EXPECT_EQ(header, "InternalError;Receiver");
}

TEST(QueryError, IsAsTheReferenceShowsIt) {
  EXPECT_EQ(query_error(kNoQueue),
            "<?xml version=\"1.0\"?>"
            "<ErrorResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\">"
            "<Error><Type>Sender</Type><Code>AWS.SimpleQueueService.NonExistentQueue</Code>"
            "<Message>The specified queue does not exist for this wsdl version.</Message>"
            "<Detail/></Error><RequestId>42d59b56-7407-4c4a-be0f-4c88daeea257</RequestId>"
            "</ErrorResponse>");
  EXPECT_NE(query_error({ErrorCode::unknown_operation, ""}).find("<UnknownOperationException/>"),
            std::string::npos);
}

TEST(Errors, QuoteAnythingSafely) {
  const Error error{ErrorCode::receipt_handle_is_invalid, "The \"\xff<\x01>\" is not valid."};
  EXPECT_EQ(json_error(error),
            R"({"__type":"com.amazonaws.sqs#ReceiptHandleIsInvalid",)"
            R"("message":"The \"?<\u0001>\" is not valid."})");
  EXPECT_NE(query_error(error).find("The &quot;?&lt;\uFFFD&gt;&quot; is not valid."),
            std::string::npos);
}

TEST(Errors, KeepOurOwnTroublesToOurselves) {
  for (const ErrorCode code : {ErrorCode::storage_io, ErrorCode::network, ErrorCode::usage}) {
    const Error error{code, "/var/lib/journal: input/output error"};
    EXPECT_EQ(json_error(error).find("journal"), std::string::npos);
    EXPECT_EQ(query_error(error).find("journal"), std::string::npos);
    EXPECT_NE(query_error(error).find("<Type>Receiver</Type><Code>InternalError</Code>"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace redrive::sqs
