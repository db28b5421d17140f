#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>

#include "aws/sqs/model/actions.h"
#include "aws/sqs/service.h"
#include "tests/core/engine/engine_world.h"

// A reply leaves when its mark is durable. Here the journal syncs only when the test says so, so
// that a mark that is too low shows.

namespace redrive::sqs {
namespace {

using http::SyncPoint;
using std::chrono::seconds;

struct Answered {
  std::optional<SyncPoint> mark;
  std::string text;
};

// A request that was handed over without a connection.
class TestExchange final : public http::Exchange {
 public:
  TestExchange(std::string_view action, std::string_view json, Answered& answered,
               std::uint32_t slot)
      : answered_(answered), slot_(slot) {
    target_ = fmt::format("AmazonSQS.{}", action);
    body_ = std::string(json) + std::string(http::kBodyPadding, ' ');
    request_.method = "POST";
    request_.target = request_.path = "/";
    request_.headers = {{"x-amz-target", target_}, {"content-type", "application/x-amz-json-1.0"}};
    request_.body = std::string_view(body_).substr(0, json.size());
    request_.host = "test:1";
    request_.peer = "127.0.0.1";
  }
  const http::Request& request() const override { return request_; }
  std::string& out() override { return answered_.text; }
  void reply(SyncPoint after) override { answered_.mark = after; }
  void measure(metrics::Histogram&) override {}
  http::ReplyToken gather() override { return {.thread = 0, .slot = slot_, .generation = 1}; }
  http::ReplyToken defer(std::function<void()>) override {
    return {.thread = 0, .slot = slot_, .generation = 2};
  }

 private:
  Answered& answered_;
  std::uint32_t slot_;
  std::string target_;
  std::string body_;
  http::Request request_;
};

// Answers what was gathered or deferred, by the number of the request.
class TestServer final : public http::Server {
 public:
  std::deque<Answered> answers;

  Result<void> run(Hooks) override { return {}; }
  std::uint16_t port() const override { return 1; }
  void release(SyncPoint) override {}
  void answer(const http::ReplyToken& ticket,
              const std::function<SyncPoint(std::string* out)>& write) override {
    Answered& answered = answers.at(ticket.slot);
    answered.mark = write(&answered.text);
  }
  void resume(http::ReplyToken ticket, std::function<SyncPoint(std::string* out)> write,
              metrics::Histogram*) override {
    answer(ticket, write);
  }
  void post(unsigned, std::function<void()> work) override { work(); }
  void wake_after(std::chrono::milliseconds, std::function<void()>) override {}
  void drain(std::chrono::milliseconds) override {}
  std::size_t connections() const override { return 0; }
  Totals totals() const override { return {}; }
  Result<void> reload_tls() override { return {}; }
};

struct Marks : testing::Test {
  engine::EngineWorld world;
  front::Gate gate{{}, world.clock};
  TestServer server;
  std::unique_ptr<Service> service =
      std::make_unique<Service>(world.engine(), gate, ServiceOptions{}, Service::Hooks{});

  Marks() { service->attach(server); }

  // Not answered yet, if it is gathered or waits.
  Answered& start(std::string_view action, std::string_view json) {
    Answered& answered = server.answers.emplace_back();
    TestExchange exchange(
        action, json, answered, static_cast<std::uint32_t>(server.answers.size() - 1));
    service->handle(exchange);
    return answered;
  }
  // The answer, whose mark covers everything that was recorded until then.
  std::string ask(std::string_view action, std::string_view json) {
    record_something();
    Answered& answered = start(action, json);
    if (!answered.mark) service->send_gathered();
    EXPECT_EQ(answered.mark, world.journal.appended()) << action << json;
    return answered.text;
  }
  // A record that the request has nothing to do with.
  void record_something() {
    world.engine().turn([](engine::Turn& turn) { turn.commit(queue::TimePassed{}); });
  }
  static std::string field(const std::string& text, std::string_view name) {
    const std::string key = fmt::format("\"{}\":\"", name);
    const std::size_t at = text.find(key);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + key.size();
    return text.substr(begin, text.find('"', begin) - begin);
  }
  std::string receive_handle() {
    ask("SendMessage", R"({"QueueUrl":"orders","MessageBody":"m"})");
    return field(ask("ReceiveMessage", R"({"QueueUrl":"orders"})"), "ReceiptHandle");
  }
};

TEST_F(Marks, OfEveryActionCoverWhatWasRecorded) {
  std::set<std::string_view> asked;
  const auto try_action = [&](std::string_view action, const std::string& json) {
    asked.insert(action);
    const std::string answer = ask(action, json);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << action << answer;
    return answer;
  };
  try_action("CreateQueue", R"({"QueueName":"orders"})");
  try_action("CreateQueue", R"({"QueueName":"dead"})");
  try_action("GetQueueUrl", R"({"QueueName":"orders"})");
  try_action("ListQueues", "{}");
  const std::string arn = engine::identity_of("dead").arn();
  try_action(
      "SetQueueAttributes",
      fmt::format(
          R"({{"QueueUrl":"orders","Attributes":{{"RedrivePolicy":"{{\"deadLetterTargetArn\":\"{}\",\"maxReceiveCount\":9}}"}}}})",
          arn));
  try_action("GetQueueAttributes", R"({"QueueUrl":"orders","AttributeNames":["All"]})");
  try_action("ListDeadLetterSourceQueues", R"({"QueueUrl":"dead"})");
  try_action("TagQueue", R"({"QueueUrl":"orders","Tags":{"a":"b"}})");
  try_action("ListQueueTags", R"({"QueueUrl":"orders"})");
  try_action("UntagQueue", R"({"QueueUrl":"orders","TagKeys":["a"]})");
  try_action(
      "AddPermission",
      R"({"QueueUrl":"orders","Label":"l","AWSAccountIds":["123456789012"],"Actions":["SendMessage"]})");
  try_action("RemovePermission", R"({"QueueUrl":"orders","Label":"l"})");
  try_action("SendMessage", R"({"QueueUrl":"orders","MessageBody":"m"})");
  try_action("SendMessage",
             fmt::format(R"({{"QueueUrl":"orders","MessageBody":"{}"}})", std::string(9'000, 'x')));
  try_action("SendMessageBatch",
             R"({"QueueUrl":"orders","Entries":[{"Id":"1","MessageBody":"m"}]})");
  const auto receive = [&] {
    return field(try_action("ReceiveMessage", R"({"QueueUrl":"orders"})"), "ReceiptHandle");
  };
  try_action("ChangeMessageVisibility",
             fmt::format(R"({{"QueueUrl":"orders","ReceiptHandle":"{}","VisibilityTimeout":5}})",
                         receive()));
  const std::string handle = receive();
  try_action(
      "ChangeMessageVisibilityBatch",
      fmt::format(
          R"({{"QueueUrl":"orders","Entries":[{{"Id":"1","ReceiptHandle":"{}","VisibilityTimeout":5}}]}})",
          handle));
  try_action("DeleteMessage",
             fmt::format(R"({{"QueueUrl":"orders","ReceiptHandle":"{}"}})", handle));
  try_action("DeleteMessageBatch",
             fmt::format(R"({{"QueueUrl":"orders","Entries":[{{"Id":"1","ReceiptHandle":"{}"}}]}})",
                         receive()));
  const std::string started =
      try_action("StartMessageMoveTask", fmt::format(R"({{"SourceArn":"{}"}})", arn));
  try_action("ListMessageMoveTasks", fmt::format(R"({{"SourceArn":"{}"}})", arn));
  try_action("CancelMessageMoveTask",
             fmt::format(R"({{"TaskHandle":"{}"}})", field(started, "TaskHandle")));
  try_action("PurgeQueue", R"({"QueueUrl":"orders"})");
  try_action("ReceiveMessage", R"({"QueueUrl":"orders"})");  // Nothing is left.
  try_action("DeleteQueue", R"({"QueueUrl":"orders"})");
  for (const std::string_view name : AllActions::kNames) {
    EXPECT_TRUE(asked.contains(name)) << name << " has no mark tested";
  }
}

// That a queue is not there may follow from a deletion that is not durable yet.
TEST_F(Marks, OfRefusalsCoverWhatWasRecorded) {
  for (const char* action : {"ReceiveMessage", "PurgeQueue", "DeleteQueue", "ListQueueTags"}) {
    EXPECT_NE(ask(action, R"({"QueueUrl":"nowhere"})").find("QueueDoesNotExist"),
              std::string::npos);
  }
  EXPECT_NE(
      ask("SendMessage", R"({"QueueUrl":"nowhere","MessageBody":"m"})").find("QueueDoesNotExist"),
      std::string::npos);
  ask("CreateQueue", R"({"QueueName":"orders"})");
  ask("SendMessage", R"({"QueueUrl":"orders","MessageBody":""})");
  ask("DeleteMessage", R"({"QueueUrl":"orders","ReceiptHandle":"none"})");
  ask("Nonsense", "{}");
}

// Its mark is that of the receive, or, when nothing came, of everything until then.
TEST_F(Marks, OfLongPollsCoverWhatWasRecorded) {
  ask("CreateQueue", R"({"QueueName":"orders"})");
  const char* const poll = R"({"QueueUrl":"orders","WaitTimeSeconds":10})";
  Answered& served = start("ReceiveMessage", poll);
  ask("SendMessage", R"({"QueueUrl":"orders","MessageBody":"m"})");
  EXPECT_EQ(served.mark, world.journal.appended());
  Answered& empty = start("ReceiveMessage", poll);
  record_something();
  world.pass(seconds(10));
  EXPECT_EQ(empty.mark, world.journal.appended());
  Answered& gone = start("ReceiveMessage", poll);
  ask("DeleteQueue", R"({"QueueUrl":"orders"})");
  EXPECT_EQ(gone.mark, world.journal.appended());
}

TEST_F(Marks, AFailedMoveTaskCannotBeCancelled) {
  const std::string arn = engine::identity_of("dead").arn();
  ask("CreateQueue", R"({"QueueName":"dead"})");
  ask("CreateQueue",
      fmt::format(
          R"({{"QueueName":"orders","Attributes":{{"RedrivePolicy":"{{\"deadLetterTargetArn\":\"{}\",\"maxReceiveCount\":9}}"}}}})",
          arn));
  ask("SendMessage", R"({"QueueUrl":"dead","MessageBody":"from nowhere"})");
  const std::string task =
      field(ask("StartMessageMoveTask", fmt::format(R"({{"SourceArn":"{}"}})", arn)), "TaskHandle");
  world.pass(seconds(1));
  EXPECT_NE(ask("ListMessageMoveTasks", fmt::format(R"({{"SourceArn":"{}"}})", arn)).find("FAILED"),
            std::string::npos);
  const std::string cancelled =
      ask("CancelMessageMoveTask", fmt::format(R"({{"TaskHandle":"{}"}})", task));
  EXPECT_NE(cancelled.find("Only active tasks can be cancelled."), std::string::npos) << cancelled;
}

// Clients send, receive and delete; syncs come at any moment, also between the request and its
// answer. What was acknowledged when the power fails is there afterwards.
TEST_F(Marks, LetNothingBeAcknowledgedThatAPowerLossTakes) {
  ask("CreateQueue", R"({"QueueName":"orders"})");
  std::mt19937 chance(7);
  struct Asked {
    const Answered* answer;
    std::string body;  // That was sent, or
    bool deleted;      // deleted.
  };
  std::vector<Asked> requests;
  std::map<std::string, std::string> received;  // Handles by their bodies.
  const auto maybe_sync = [&] {
    if (chance() % 4 == 0) ASSERT_TRUE(world.journal.sync_once().has_value());
  };
  for (int i = 0; i < 600; ++i) {
    switch (chance() % 3) {
      case 0:
        for (unsigned j = 0; j <= chance() % 3; ++j) {
          const std::string body = fmt::format("m{}-{}", i, j);
          const Answered& answer = start(
              "SendMessage", fmt::format(R"({{"QueueUrl":"orders","MessageBody":"{}"}})", body));
          requests.push_back({&answer, body, false});
        }
        maybe_sync();
        service->send_gathered();
        break;
      case 1: {
        const std::string& text = start("ReceiveMessage", R"({"QueueUrl":"orders"})").text;
        if (!field(text, "Body").empty())
          received[field(text, "Body")] = field(text, "ReceiptHandle");
        break;
      }
      default:
        if (received.empty()) break;
        const auto [body, handle] = *received.begin();
        received.erase(received.begin());
        const Answered& answer =
            start("DeleteMessage",
                  fmt::format(R"({{"QueueUrl":"orders","ReceiptHandle":"{}"}})", handle));
        requests.push_back({&answer, body, true});
    }
    maybe_sync();
    if (i % 20 != 19) continue;
    // What a restart would find.
    const SyncPoint durable = world.journal.synced();
    store::Store survivor;
    for (const auto& record : world.journal.records()) {
      if (record.sequence <= durable)
        ASSERT_TRUE(survivor.replay(record.at, record.payload).has_value());
    }
    std::set<std::string> there;
    const queue::State& state = survivor.state();
    for (queue::Slot slot = 0; slot < state.messages().end(); ++slot) {
      const queue::Message& message = state.messages()[slot];
      if (message.key == queue::MessageKey::none) continue;
      std::string bytes(message.body.size, '\0');
      const journal::Location at{message.body.segment, message.body.offset};
      ASSERT_TRUE(world.journal.read(at, bytes.size(), bytes.data()).has_value());
      there.emplace(store::decode_message(bytes)->contents.body);
    }
    std::set<std::string> deletes;
    for (const Asked& asked : requests) {
      if (asked.deleted) deletes.insert(asked.body);
    }
    for (const Asked& asked : requests) {
      ASSERT_TRUE(asked.answer->mark.has_value());
      if (*asked.answer->mark > durable) continue;
      if (asked.deleted) {
        ASSERT_FALSE(there.contains(asked.body)) << asked.body << " was deleted, step " << i;
      } else if (!deletes.contains(asked.body)) {
        ASSERT_TRUE(there.contains(asked.body)) << asked.body << " was sent, step " << i;
      }
    }
  }
}

}  // namespace
}  // namespace redrive::sqs
