#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "aws/sqs/model/actions.h"
#include "base/result.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"
#include "tests/net/wire/padded.h"

namespace redrive::sqs {
namespace {

// Decodes `text` as an input of Action and encodes the outcome as JSON, or gives the error.
template <class Action>
Result<std::string> reread(std::string_view text, bool query) {
  wire::Decoder decoder;
  const wire::Padded body(text);
  typename Action::Input input;
  RETURN_IF_ERROR(query ? wire::decode_query(decoder, "", body, input)
                        : wire::decode_json(decoder, body, input));
  std::string json;
  wire::encode_json(json, input);
  return json;
}

using Reread = Result<std::string> (*)(std::string_view, bool);

TEST(Query, ReadsEveryRowOfTheNamingTable) {
  const struct {
    Reread read;
    std::string_view form;
    std::string_view json;
  } cases[] = {
      {reread<DeleteQueue>,
       "Action=DeleteQueue&Version=2012-11-05&QueueUrl=u",
       R"({"QueueUrl":"u"})"},
      {reread<CreateQueue>,
       "QueueName=q&Attribute.1.Name=a&Attribute.1.Value=1&Attribute.2.Name=b&Attribute.2.Value=2",
       R"({"QueueName":"q","Attributes":{"a":"1","b":"2"}})"},
      {reread<SetQueueAttributes>,
       "QueueUrl=u&Attribute.1.Name=a&Attribute.1.Value=1",
       R"({"QueueUrl":"u","Attributes":{"a":"1"}})"},
      {reread<SetQueueAttributes>,
       "QueueUrl=u&Attribute.Name=a&Attribute.Value=1",
       R"({"QueueUrl":"u","Attributes":{"a":"1"}})"},
      {reread<CreateQueue>,
       "QueueName=q&Tag.1.Key=k&Tag.1.Value=v",
       R"({"QueueName":"q","tags":{"k":"v"}})"},
      {reread<TagQueue>,
       "QueueUrl=u&Tag.1.Key=k&Tag.1.Value=",
       R"({"QueueUrl":"u","Tags":{"k":""}})"},
      {reread<UntagQueue>,
       "QueueUrl=u&TagKey.1=a&TagKey.2=b",
       R"({"QueueUrl":"u","TagKeys":["a","b"]})"},
      {reread<GetQueueAttributes>,
       "QueueUrl=u&AttributeName.1=All",
       R"({"QueueUrl":"u","AttributeNames":["All"]})"},
      {reread<ReceiveMessage>, "AttributeName.1=All", R"({"AttributeNames":["All"]})"},
      {reread<ReceiveMessage>,
       "MessageSystemAttributeName.1=All",
       R"({"MessageSystemAttributeNames":["All"]})"},
      {reread<ReceiveMessage>,
       "MessageAttributeName.1=a.*",
       R"({"MessageAttributeNames":["a.*"]})"},
      {reread<SendMessage>,
       "MessageBody=m&MessageAttribute.1.Name=n&MessageAttribute.1.Value.DataType=String"
       "&MessageAttribute.1.Value.StringValue=s&MessageAttribute.2.Name=b"
       "&MessageAttribute.2.Value.DataType=Binary&MessageAttribute.2.Value.BinaryValue=AAEC%2Fw%3D%"
       "3D",
       R"({"MessageBody":"m","MessageAttributes":{"n":{"StringValue":"s","DataType":"String"},)"
       R"("b":{"BinaryValue":"AAEC/w==","DataType":"Binary"}}})"},
      {reread<SendMessage>,
       "MessageBody=m&MessageSystemAttribute.1.Name=AWSTraceHeader"
       "&MessageSystemAttribute.1.Value.DataType=String"
       "&MessageSystemAttribute.1.Value.StringValue=Root",
       R"({"MessageBody":"m","MessageSystemAttributes":)"
       R"({"AWSTraceHeader":{"StringValue":"Root","DataType":"String"}}})"},
      {reread<SendMessageBatch>,
       "SendMessageBatchRequestEntry.1.Id=a&SendMessageBatchRequestEntry.1.MessageBody=one"
       "&SendMessageBatchRequestEntry.1.DelaySeconds=5"
       "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Name=n"
       "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.DataType=String"
       "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.StringValue=s"
       "&SendMessageBatchRequestEntry.2.Id=b&SendMessageBatchRequestEntry.2.MessageBody=two"
       "&SendMessageBatchRequestEntry.2.MessageDeduplicationId=d"
       "&SendMessageBatchRequestEntry.2.MessageGroupId=g",
       R"({"Entries":[{"Id":"a","MessageBody":"one","DelaySeconds":5,)"
       R"("MessageAttributes":{"n":{"StringValue":"s","DataType":"String"}}},)"
       R"({"Id":"b","MessageBody":"two","MessageDeduplicationId":"d","MessageGroupId":"g"}]})"},
      {reread<DeleteMessageBatch>,
       "DeleteMessageBatchRequestEntry.1.Id=a&DeleteMessageBatchRequestEntry.1.ReceiptHandle=h",
       R"({"Entries":[{"Id":"a","ReceiptHandle":"h"}]})"},
      {reread<ChangeMessageVisibilityBatch>,
       "ChangeMessageVisibilityBatchRequestEntry.1.Id=a"
       "&ChangeMessageVisibilityBatchRequestEntry.1.ReceiptHandle=h"
       "&ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout=7",
       R"({"Entries":[{"Id":"a","ReceiptHandle":"h","VisibilityTimeout":7}]})"},
      {reread<AddPermission>,
       "Label=l&AWSAccountId.1=1&AWSAccountId.2=2&ActionName.1=*",
       R"({"Label":"l","AWSAccountIds":["1","2"],"Actions":["*"]})"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.form);
    const auto json = each.read(each.form, true);
    ASSERT_TRUE(json) << json.error().message;
    EXPECT_EQ(*json, each.json);
  }
}

TEST(Json, ReadsTheSampleRequests) {
  const struct {
    Reread read;
    std::string_view json;
  } cases[] = {
      {reread<CreateQueue>,
       R"({"QueueName":"orders","Attributes":{"VisibilityTimeout":"60"},"tags":{"team":"a"}})"},
      {reread<SendMessage>,
       R"({"QueueUrl":"http://127.0.0.1:9324/000000000000/orders","MessageBody":"hi"})"},
      {reread<SendMessageBatch>,
       R"({"QueueUrl":"orders","Entries":[{"Id":"a","MessageBody":"one"},)"
       R"({"Id":"b","MessageBody":"two","DelaySeconds":1}]})"},
      {reread<ReceiveMessage>,
       R"({"QueueUrl":"orders","MessageSystemAttributeNames":["All"],"MessageAttributeNames":["All"],)"
       R"("MaxNumberOfMessages":10,"WaitTimeSeconds":20})"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.json);
    const auto json = each.read(each.json, false);
    ASSERT_TRUE(json) << json.error().message;
    EXPECT_EQ(*json, each.json);
  }
}

TEST(Inputs, AreHeldToPresenceAndRange) {
  const auto missing = [](std::string_view name) {
    return Error{ErrorCode::missing_parameter,
                 "The request must contain the parameter " + std::string(name) + "."};
  };
  const auto invalid = [](std::string_view value, std::string_view name, std::string_view reason) {
    return Error{ErrorCode::invalid_parameter_value,
                 "Value " + std::string(value) + " for parameter " + std::string(name) +
                     " is invalid. Reason: " + std::string(reason)};
  };
  const struct {
    Reread read;
    std::string_view json;
    std::string_view form;
    Error error;
  } cases[] = {
      {reread<SendMessage>, "{}", "", missing("MessageBody")},
      {reread<SendMessage>, R"({"MessageBody":""})", "MessageBody=", missing("MessageBody")},
      {reread<SendMessage>,
       R"({"MessageBody":"m","DelaySeconds":901})",
       "MessageBody=m&DelaySeconds=901",
       invalid("901", "DelaySeconds", "DelaySeconds must be >= 0 and <= 900.")},
      {reread<ReceiveMessage>,
       R"({"MaxNumberOfMessages":11})",
       "MaxNumberOfMessages=11",
       invalid("11", "MaxNumberOfMessages", "Must be between 1 and 10, if provided.")},
      {reread<ReceiveMessage>,
       R"({"WaitTimeSeconds":21})",
       "WaitTimeSeconds=21",
       invalid("21", "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided.")},
      {reread<ReceiveMessage>,
       R"({"WaitTimeSeconds":-1})",
       "WaitTimeSeconds=-1",
       invalid("-1", "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided.")},
      {reread<ReceiveMessage>,
       R"({"VisibilityTimeout":43201})",
       "VisibilityTimeout=43201",
       invalid("43201", "VisibilityTimeout", "Must be >= 0 and <= 43200, if provided.")},
      {reread<ChangeMessageVisibility>,
       R"({"ReceiptHandle":"h"})",
       "ReceiptHandle=h",
       missing("VisibilityTimeout")},
      {reread<ChangeMessageVisibility>,
       R"({"ReceiptHandle":"h","VisibilityTimeout":43201})",
       "ReceiptHandle=h&VisibilityTimeout=43201",
       invalid("43201",
               "VisibilityTimeout",
               "VisibilityTimeout must be an integer between 0 and 43200.")},
      {reread<CreateQueue>, "{}", "", missing("QueueName")},
      {reread<SetQueueAttributes>, R"({"Attributes":{}})", "", missing("Attributes")},
      {reread<UntagQueue>, R"({"TagKeys":[]})", "", missing("TagKeys")},
      {reread<AddPermission>,
       R"({"Label":"l","Actions":["*"]})",
       "Label=l&ActionName.1=*",
       missing("AWSAccountIds")},
      {reread<SendMessageBatch>,
       R"({"Entries":[{"Id":"a"},{"MessageBody":"m"}]})",
       "SendMessageBatchRequestEntry.1.Id=a&SendMessageBatchRequestEntry.2.MessageBody=m",
       missing("SendMessageBatchRequestEntry.2.Id")},
      {reread<ListQueues>,
       R"({"MaxResults":0})",
       "MaxResults=0",
       invalid("0", "MaxResults", "MaxResults must be an integer between 1 and 1000.")},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.json);
    const auto json = each.read(each.json, false);
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error(), each.error);
    const auto query = each.read(each.form, true);
    ASSERT_FALSE(query);
    EXPECT_EQ(query.error(), each.error);
  }
}

// The queue may be named by the path, and a batch without entries has an error of its own.
TEST(Inputs, LeaveTheQueueAndTheEntriesToTheCaller) {
  const Reread reads[] = {reread<SendMessageBatch>,
                          reread<DeleteMessageBatch>,
                          reread<ChangeMessageVisibilityBatch>,
                          reread<PurgeQueue>,
                          reread<ReceiveMessage>};
  for (const Reread read : reads) {
    EXPECT_EQ(read("", false).value(), "{}");
    EXPECT_EQ(read("", true).value(), "{}");
  }
}

// What is wrong with one entry must not fail the others.
TEST(Inputs, TakeEntriesAsTheyAre) {
  const std::string_view json =
      R"({"Entries":[{"Id":"a"},{"Id":"b","MessageBody":""},{"Id":"c","MessageBody":"m",)"
      R"("DelaySeconds":-7,"MessageAttributes":{"x":{}}}]})";
  EXPECT_EQ(reread<SendMessageBatch>(json, false).value(), json);

  wire::Decoder decoder;
  SendMessageBatchInput input;
  const wire::Padded body(R"({"Entries":[{"Id":"a","MessageBody":"\ud800"},{"Id":"b"}]})");
  ASSERT_TRUE(wire::decode_json(decoder, body, input));
  EXPECT_EQ(input.entries[0].message_body, "\xed\xa0\x80");
  EXPECT_EQ(input.entries[1].message_body, std::nullopt);
}

}  // namespace
}  // namespace redrive::sqs
