#include "aws/sqs/send_message.h"

#include <gtest/gtest.h>

#include "tests/core/engine/engine_world.h"

namespace redrive::sqs {
namespace {

struct Gathered : testing::Test {
  engine::EngineWorld world;
  ServiceOptions options;
  Call call{world.engine(), options};
  GatheredSends sends;

  Gathered() {
    call.account = "000000000000";
    call.region = "us-east-1";
    call.sender_id = "AIDA";
    world.create("orders");
    world.create("bills");
    world.create("orders.fifo", engine::fifo_settings());
  }

  static SendMessageInput message(std::string_view queue, std::string_view body) {
    SendMessageInput input;
    input.queue_url = queue;
    input.message_body = body;
    return input;
  }
  // The texts it is made from are gone afterwards, like those of a request.
  bool take(const SendMessageInput& input) {
    auto plan = plan_send(call, input);
    EXPECT_TRUE(plan.has_value());
    return sends.take(call, input, *plan);
  }
  bool take(std::string queue, std::string body) {
    const bool taken = take(message(queue, body));
    queue.assign(queue.size(), '#');
    body.assign(body.size(), '#');
    return taken;
  }
  std::vector<std::string> bodies_in(const std::string& queue) {
    std::vector<std::string> bodies;
    const engine::ReceiveRequest request{.max = 10};
    auto start = world.engine().receive(engine::identity_of(queue), request, Duration::zero(), {});
    const engine::ReceiveOutcome& outcome = **start.answer;
    for (const engine::Received& received : outcome.messages) {
      std::string bytes(received.body.size, '\0');
      EXPECT_TRUE(world.engine().read_body(received.body, bytes.data()).has_value());
      const auto stored = store::decode_message(bytes);
      EXPECT_TRUE(stored.has_value());
      EXPECT_EQ(stored->contents.md5_of_body, md5(stored->contents.body));
      EXPECT_EQ(stored->contents.sender, "AIDA");
      bodies.emplace_back(stored->contents.body);
    }
    return bodies;
  }
};

TEST_F(Gathered, GoWhereTheyBelongInOrder) {
  EXPECT_TRUE(take("orders", "one"));
  EXPECT_TRUE(take("bills", std::string(300, 'b')));
  EXPECT_TRUE(take("orders", "two"));
  sends.send(world.engine());
  ASSERT_EQ(sends.size(), 3u);
  EXPECT_EQ(sends.result(0)->md5_of_message_body, md5("one"));
  EXPECT_EQ(sends.result(1)->md5_of_message_body, md5(std::string(300, 'b')));
  EXPECT_EQ(sends.result(2)->md5_of_message_body, md5("two"));
  EXPECT_EQ(bodies_in("orders"), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(bodies_in("bills"), (std::vector<std::string>{std::string(300, 'b')}));
}

TEST_F(Gathered, AreOneRecordWhateverTheirQueues) {
  const engine::Sequence before = world.engine().appended();
  for (const char* queue : {"orders", "bills", "orders"}) EXPECT_TRUE(take(queue, "body"));
  sends.send(world.engine());
  EXPECT_EQ(world.engine().appended(), before + 1);
}

TEST_F(Gathered, PlacesAreUsedAgain) {
  SendMessageInput input = message("orders.fifo", "first");
  input.message_group_id = "group";
  input.message_deduplication_id = "d1";
  EXPECT_TRUE(take(input));
  sends.send(world.engine());
  EXPECT_EQ(sends.result(0)->sequence_number->size(), 20u);
  sends.clear();
  EXPECT_TRUE(take("orders", "second"));
  sends.send(world.engine());
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_FALSE(sends.result(0)->sequence_number.has_value());
  EXPECT_EQ(bodies_in("orders"), (std::vector<std::string>{"second"}));
}

// Each needs a little more room than the one before it had.
TEST_F(Gathered, APlaceGrowsWithItsMessages) {
  std::vector<std::string> bodies;
  for (std::size_t size = 100; size < 1'000; size += 100) {
    bodies.push_back(std::string(size, 'b'));
    EXPECT_TRUE(take("orders", bodies.back()));
    sends.send(world.engine());
    sends.clear();
  }
  EXPECT_EQ(bodies_in("orders"), bodies);
}

TEST_F(Gathered, ADuplicateAmongThemIsStoredOnce) {
  SendMessageInput input = message("orders.fifo", "again");
  input.message_group_id = "group";
  input.message_deduplication_id = "d1";
  EXPECT_TRUE(take(input));
  EXPECT_TRUE(take(input));
  sends.send(world.engine());
  EXPECT_EQ(sends.result(0)->message_id, sends.result(1)->message_id);
  EXPECT_EQ(sends.result(0)->sequence_number, sends.result(1)->sequence_number);
  EXPECT_EQ(bodies_in("orders.fifo"), (std::vector<std::string>{"again"}));
}

// A queue that is deleted before they are sent fails its own messages only.
TEST_F(Gathered, OneQueuesFailureIsItsOwn) {
  EXPECT_TRUE(take("orders", "one"));
  EXPECT_TRUE(take("bills", "two"));
  world.remove_queue("orders");
  sends.send(world.engine());
  ASSERT_FALSE(sends.result(0).has_value());
  EXPECT_EQ(sends.result(0).error().code, ErrorCode::queue_does_not_exist);
  EXPECT_TRUE(sends.result(1).has_value());
  EXPECT_EQ(bodies_in("bills"), (std::vector<std::string>{"two"}));
}

// Where a queue is remembered from the last time, and is another one by now.
TEST_F(Gathered, WhatIsKnownOfAQueueIsForgottenWithIt) {
  const auto sizes = [&](std::size_t bytes) {
    return plan_send(call, message("orders", std::string(bytes, 'x'))).has_value();
  };
  EXPECT_TRUE(sizes(3000));
  queue::QueueSettings small;
  small.message_bytes_max = 2048;
  world.change("orders", small);
  EXPECT_FALSE(sizes(3000));
  world.remove_queue("orders");
  EXPECT_FALSE(sizes(10));
  world.create("orders");
  EXPECT_TRUE(sizes(3000));
  call.account = "999999999999";
  EXPECT_FALSE(sizes(10));
  engine::EngineWorld other;
  Call elsewhere{other.engine(), options};
  static_cast<front::Caller&>(elsewhere) = call;
  elsewhere.account = "000000000000";
  EXPECT_FALSE(plan_send(elsewhere, message("orders", "x")).has_value());
}

// Whoever is forgotten for another is found again.
TEST_F(Gathered, MoreQueuesThanAThreadRemembers) {
  constexpr int kQueues = 5000;
  const auto name_of = [](int i) { return "many-" + std::to_string(i); };
  std::vector<queue::QueueKey> keys;
  for (int i = 0; i < kQueues; ++i) {
    world.create(name_of(i));
    keys.push_back(call.find(engine::identity_of(name_of(i)))->key);
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kQueues; ++i) EXPECT_EQ(call.find(name_of(i))->key, keys[i]) << i;
  }
}

TEST_F(Gathered, SeveralQueuesGetTheirOwn) {
  for (const char* const queue : {"orders", "bills", "bills", "orders"})
    EXPECT_TRUE(take(queue, queue));
  sends.send(world.engine());
  EXPECT_EQ(bodies_in("orders"), (std::vector<std::string>{"orders", "orders"}));
  EXPECT_EQ(bodies_in("bills"), (std::vector<std::string>{"bills", "bills"}));
}

TEST_F(Gathered, AttributesAreKept) {
  std::string value = "blue";
  const MessageAttributes attributes = {{"color", {.data_type = "String", .string_value = value}}};
  SendMessageInput input = message("orders", "one");
  input.message_attributes = attributes;
  const Md5 expected = md5_of_attributes(attributes);
  EXPECT_TRUE(take("orders", "none"));
  EXPECT_TRUE(take(input));
  value = "gone";
  sends.send(world.engine());
  EXPECT_FALSE(sends.result(0)->md5_of_message_attributes.has_value());
  EXPECT_EQ(sends.result(1)->md5_of_message_attributes, expected);
  EXPECT_EQ(bodies_in("orders"), (std::vector<std::string>{"none", "one"}));
}

TEST_F(Gathered, WhatIsLongGoesAlone) {
  EXPECT_FALSE(take("orders", std::string(5000, 'x')));
  const std::string value(5000, 'x');
  SendMessageInput input = message("orders", "one");
  input.message_attributes = {{"A", {.data_type = "String", .string_value = value}}};
  EXPECT_FALSE(take(input));
  for (int i = 0; i < 128; ++i) EXPECT_TRUE(take("orders", "x"));
  EXPECT_FALSE(take("orders", "one too many"));
}

TEST_F(Gathered, NothingIsTakenThatFailsTheChecks) {
  EXPECT_FALSE(plan_send(call, message("orders", "")).has_value());
  EXPECT_FALSE(plan_send(call, message("nowhere", "x")).has_value());
}

}  // namespace
}  // namespace redrive::sqs
