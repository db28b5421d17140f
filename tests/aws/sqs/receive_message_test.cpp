#include "aws/sqs/receive_message.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>

#include "aws/sqs/draft.h"
#include "aws/sqs/operations.h"
#include "aws/sqs/send_message.h"
#include "base/text.h"
#include "base/xml.h"
#include "net/wire/encode.h"
#include "tests/core/engine/engine_world.h"

namespace redrive::sqs {
namespace {

using Names = std::vector<std::string>;

struct Receive : testing::Test {
  engine::EngineWorld world;
  ServiceOptions options;
  Call call{world.engine(), options};
  std::unique_ptr<ReceivedBatch> batch;  // Owns what the last answer points at.

  Receive() {
    call.account = "000000000000";
    call.region = "us-east-1";
    call.sender_id = "AIDA";
    world.create("orders");
    world.create("orders.fifo", engine::fifo_settings());
  }

  static MessageAttributes some_attributes() {
    const auto text = [](std::string_view value) {
      return MessageAttributeValue{.data_type = "String", .string_value = value};
    };
    return {{"Hello", text("1")},
            {"Help.Me", text("2")},
            {"Other", {.data_type = "Binary", .binary_value = wire::Blob{"\x01\x02"}}}};
  }
  void send(std::string_view queue, MessageAttributes attributes = {}) {
    SendMessageInput input;
    input.queue_url = queue;
    input.message_body = "hello";
    input.message_attributes = std::move(attributes);
    if (queue.ends_with(".fifo")) {
      input.message_group_id = "group";
      input.message_deduplication_id = "dedup";
    }
    ASSERT_TRUE(run(call, input).has_value());
  }
  // Receives, and makes the message visible again.
  const ReceivedMessage& receive(ReceiveMessageInput input) {
    input.visibility_timeout = 0;
    const auto plan = plan_receive(call, input);
    EXPECT_TRUE(plan.has_value());
    auto start = world.engine().receive(plan->queue, plan->request, Duration::zero(), {});
    batch = std::make_unique<ReceivedBatch>(
        world.engine(), **start.answer, plan->view, world.state().secret());
    EXPECT_EQ(batch->output().messages.size(), 1u);
    return batch->output().messages.at(0);
  }
  Names attributes_for(StringList asked) {
    Names names;
    for (const auto& [name, value] :
         receive({.queue_url = "orders", .message_attribute_names = std::move(asked)})
             .message_attributes) {
      names.emplace_back(name);
    }
    return names;
  }
  Names system_names(const ReceivedMessage& message) {
    Names names;
    for (const auto& [name, value] : message.attributes) names.emplace_back(name);
    std::ranges::sort(names);
    return names;
  }
};

TEST_F(Receive, GivesTheMessageWithItsHandleAndDigest) {
  send("orders");
  const auto& message = receive({.queue_url = "orders"});
  EXPECT_EQ(message.body, "hello");
  EXPECT_EQ(message.md5_of_body, md5("hello"));
  EXPECT_TRUE(message.attributes.empty());
  EXPECT_TRUE(message.message_attributes.empty());
  EXPECT_EQ(message.md5_of_message_attributes, std::nullopt);
  EXPECT_TRUE(
      queue::ReceiptHandle::open(world.state().secret(), message.receipt_handle).has_value());
}

// Earlier versions stored such texts. What is stored stays as it is; what is answered is valid.
TEST_F(Receive, AnswersAreValidWhateverIsStored) {
  const std::string broken = "x\xff\xed\xa0\x80\x01\uFFFE<&>\"";
  SendMessageInput input;
  input.queue_url = "orders";
  input.message_body = broken;
  const std::string type = "String." + broken;
  input.message_attributes = {{broken, {.data_type = type, .string_value = broken}}};
  call.sender_id = broken;
  call.trace = broken;
  ASSERT_TRUE(send_planned(call, input, *call.find("orders")).has_value());
  ReceiveMessageOutput output;
  output.messages = {receive(
      {.queue_url = "orders", .attribute_names = {"All"}, .message_attribute_names = {"All"}})};
  EXPECT_EQ(output.messages[0].body, broken);
  std::string json;
  wire::encode_json(json, output);
  simdjson::dom::parser parser;
  ASSERT_EQ(parser.parse(json).error(), simdjson::SUCCESS) << json;
  std::string_view body;
  ASSERT_EQ(parser.parse(json).at_pointer("/Messages/0/Body").get(body), simdjson::SUCCESS);
  EXPECT_EQ(body, replace_invalid(broken));
  std::string xml = "<r>";
  wire::encode_xml(xml, output);
  xml += "</r>";
  const auto element = parse_xml(xml);
  ASSERT_TRUE(element.has_value()) << xml;
  EXPECT_EQ(element->find("Message")->text_of("Body"), replace_invalid(broken, Repertoire::xml));
}

TEST_F(Receive, GivesTheAttributesAskedForByNameOrPrefix) {
  send("orders", some_attributes());
  const std::pair<StringList, Names> cases[] = {
      {{}, {}},
      {{"Hello"}, {"Hello"}},
      {{"hello"}, {}},
      {{"Missing", "!!"}, {}},
      {{"Other", "Hello"}, {"Hello", "Other"}},
      {{"Hel.*"}, {"Hello", "Help.Me"}},
      {{"Help.*"}, {"Help.Me"}},
      {{"All"}, {"Hello", "Help.Me", "Other"}},
      {{"*"}, {"Hello", "Help.Me", "Other"}},
      {{".*"}, {"Hello", "Help.Me", "Other"}},
      {{"Missing", "All"}, {"Hello", "Help.Me", "Other"}},
  };
  for (const auto& [asked, expected] : cases) {
    EXPECT_EQ(attributes_for(asked), expected) << (asked.empty() ? "nothing" : asked[0]);
  }
}

// The digest is of what is returned, not of what is stored.
TEST_F(Receive, DigestsOnlyTheAttributesItGives) {
  send("orders", some_attributes());
  const MessageAttributes all = some_attributes();
  EXPECT_EQ(receive({.queue_url = "orders", .message_attribute_names = {"All"}})
                .md5_of_message_attributes,
            md5_of_attributes(all));
  EXPECT_EQ(receive({.queue_url = "orders", .message_attribute_names = {"Other"}})
                .md5_of_message_attributes,
            md5_of_attributes({all[2]}));
  EXPECT_EQ(receive({.queue_url = "orders", .message_attribute_names = {"None"}})
                .md5_of_message_attributes,
            std::nullopt);
}

TEST_F(Receive, GivesBinaryAttributesAsBytes) {
  send("orders", some_attributes());
  const auto& message = receive({.queue_url = "orders", .message_attribute_names = {"Other"}});
  ASSERT_EQ(message.message_attributes.size(), 1u);
  const auto& value = message.message_attributes[0].second;
  EXPECT_EQ(value.data_type, "Binary");
  EXPECT_EQ(value.string_value, std::nullopt);
  EXPECT_EQ(value.binary_value->bytes, "\x01\x02");
}

TEST_F(Receive, GivesSystemAttributesFromEitherList) {
  send("orders");
  const Names all = {
      "ApproximateFirstReceiveTimestamp", "ApproximateReceiveCount", "SenderId", "SentTimestamp"};
  EXPECT_EQ(system_names(receive({.queue_url = "orders", .attribute_names = {"All"}})), all);
  EXPECT_EQ(
      system_names(receive({.queue_url = "orders", .message_system_attribute_names = {"All"}})),
      all);
  EXPECT_EQ(system_names(
                receive({.queue_url = "orders",
                         .attribute_names = {"SenderId"},
                         .message_system_attribute_names = {"SentTimestamp", "MessageGroupId"}})),
            (Names{"SenderId", "SentTimestamp"}));
}

TEST_F(Receive, AFifoMessageHasAGroupAnIdAndANumber) {
  send("orders.fifo");
  const auto& message = receive({.queue_url = "orders.fifo", .attribute_names = {"All"}});
  std::map<std::string_view, std::string_view> values(message.attributes.begin(),
                                                      message.attributes.end());
  EXPECT_EQ(values["MessageGroupId"], "group");
  EXPECT_EQ(values["MessageDeduplicationId"], "dedup");
  EXPECT_EQ(values["SequenceNumber"].size(), 20u);
  EXPECT_EQ(values["SenderId"], "AIDA");
  EXPECT_EQ(values["ApproximateReceiveCount"], "1");
  EXPECT_EQ(values["SentTimestamp"], std::to_string(world.clock.wall().ms()));
}

TEST_F(Receive, UnknownSystemNamesAreRefusedQueueAttributesIgnored) {
  const auto refused = plan_receive(call, {.queue_url = "orders", .attribute_names = {"Nonsense"}});
  EXPECT_EQ(refused.error(),
            (Error{ErrorCode::invalid_attribute_name, "Unknown Attribute Nonsense."}));
  const auto ignored =
      plan_receive(call, {.queue_url = "orders", .attribute_names = {"VisibilityTimeout"}});
  ASSERT_TRUE(ignored.has_value());
  EXPECT_EQ(ignored->view.system_attributes, 0u);
}

TEST_F(Receive, TheRequestCarriesWhatWasAsked) {
  call.sender_id = "AIDA";
  call.peer = "10.0.0.1";
  const auto plan = plan_receive(call,
                                 {.queue_url = "orders",
                                  .max_number_of_messages = 7,
                                  .visibility_timeout = 5,
                                  .wait_time_seconds = 3,
                                  .receive_request_attempt_id = "attempt"});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->request.max, 7u);
  EXPECT_EQ(plan->request.visibility, std::chrono::seconds(5));
  EXPECT_EQ(plan->wait, std::chrono::seconds(3));
  EXPECT_EQ(plan->request.attempt_id, "attempt");
  EXPECT_EQ(plan->request.consumer, "AIDA 10.0.0.1");
  const auto plain = plan_receive(call, {.queue_url = "orders"});
  EXPECT_EQ(plain->request.max, 1u);
  EXPECT_EQ(plain->wait, std::nullopt);
  EXPECT_FALSE(
      plan_receive(call, {.queue_url = "orders", .receive_request_attempt_id = "a b"}).has_value());
}

TEST_F(Receive, AMessageWhoseBytesAreGoneIsLeftOutAndNamed) {
  send("orders");
  world.journal.set_unreadable(true);
  const auto plan = plan_receive(call, {.queue_url = "orders"});
  auto start = world.engine().receive(plan->queue, plan->request, Duration::zero(), {});
  const ReceivedBatch batch(world.engine(), **start.answer, plan->view, world.state().secret());
  EXPECT_TRUE(batch.output().messages.empty());
  EXPECT_EQ(batch.faults().size(), 1u);
  EXPECT_TRUE(world.dead_letters().damage.counts().empty());  // The disk may answer again.
}

TEST_F(Receive, ADamagedMessageIsSetAsideAndTheOthersAreDelivered) {
  for (int i = 0; i < 3; ++i) send("orders");
  const auto plan = plan_receive(call, {.queue_url = "orders", .max_number_of_messages = 10});
  auto start = world.engine().receive(plan->queue, plan->request, Duration::zero(), {});
  ASSERT_EQ((*start.answer)->messages.size(), 3u);
  world.journal.flip_bit((*start.answer)->messages[1].body);
  const ReceivedBatch batch(world.engine(), **start.answer, plan->view, world.state().secret());
  EXPECT_EQ(batch.output().messages.size(), 2u);
  EXPECT_TRUE(batch.faults().empty());
  EXPECT_EQ(world.dead_letters().damage.counts().at(plan->queue), 1u);
}

TEST(SequenceNumber, HasTwentyDigitsAndGrows) {
  EXPECT_EQ(sequence_text(0), "10000000000000000000");
  EXPECT_EQ(sequence_text(7), "10000000000000000007");
  EXPECT_LT(sequence_text(99), sequence_text(100));
}

}  // namespace
}  // namespace redrive::sqs
