#include "aws/sqs/service.h"
#include "dead_letters/dead_letters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "core/journal/journal.h"
#include "net/http/offload_pool.h"
#include "tests/net/http/raw_client.h"

// The whole API in one process: requests as bytes, a journal in memory, time that is moved.

namespace redrive::sqs {
namespace {

using http::body_of;
using http::RawClient;
using http::status_of;

class ServiceTest : public testing::Test {
 public:
  ServiceTest() {
    EXPECT_TRUE(store_.attach(*journal_).has_value());
    engine_ = std::make_unique<engine::Engine>(
        engine::Engine::Parts{store_, *journal_, clock_, ids_}, engine::Engine::Hooks{});
    dead_letters_.emplace(*engine_);
    service_ = std::make_unique<Service>(*engine_, gate_, ServiceOptions{}, Service::Hooks{});
    auto started = http::Server::start(
        {},
        {.handle = [this](http::Exchange& exchange) { service_->handle(exchange); },
         .answer_gathered = [this] { service_->send_gathered(); }});
    EXPECT_TRUE(started.has_value());
    server_ = std::move(*started);
    server_->release(UINT64_MAX);
    service_->attach(*server_);
    client_ = std::make_unique<RawClient>(server_->port());
  }
  ~ServiceTest() override {
    client_.reset();
    engine_->stop_waiting();
    server_->drain(std::chrono::seconds(5));
    server_.reset();
  }

  static std::string json_request(std::string_view action, std::string_view body) {
    return fmt::format(
        "POST / HTTP/1.1\r\nHost: test:1\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "X-Amz-Target: AmazonSQS.{}\r\nContent-Length: {}\r\n\r\n{}",
        action,
        body.size(),
        body);
  }
  static std::string form_request(std::string_view form, std::string_view path = "/") {
    return fmt::format(
        "POST {} HTTP/1.1\r\nHost: test:1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Content-Length: {}\r\n\r\n{}",
        path,
        form.size(),
        form);
  }
  std::string ask(const std::string& request) {
    EXPECT_TRUE(client_->send(request));
    return client_->read_response();
  }
  std::string json(std::string_view action, std::string_view body) {
    return ask(json_request(action, body));
  }

  // Until the server has got as far as the test needs; fails the test if it never does.
  template <class Condition>
  void await(Condition condition) {
    for (int i = 0; i < 20'000; ++i) {
      if (condition()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL() << "waited in vain";
  }

 protected:
  ManualClock clock_;
  front::Gate gate_{{}, clock_};
  SeededIds ids_{1};
  store::Store store_;
  std::unique_ptr<journal::Journal> journal_ = journal::memory_journal({});
  std::unique_ptr<engine::Engine> engine_;
  std::optional<dead_letters::DeadLetters> dead_letters_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<RawClient> client_;
};

TEST_F(ServiceTest, AMessageGoesThroughInJson) {
  EXPECT_EQ(body_of(json("CreateQueue", R"({"QueueName":"orders"})")),
            R"({"QueueUrl":"http://test:1/000000000000/orders"})");
  const std::string sent = json("SendMessage", R"({"QueueUrl":"orders","MessageBody":"hello"})");
  EXPECT_EQ(status_of(sent), 200);
  EXPECT_NE(sent.find("5d41402abc4b2a76b9719d911017c592"), std::string::npos) << sent;
  const std::string received = json("ReceiveMessage", R"({"QueueUrl":"orders"})");
  EXPECT_NE(received.find(R"("Body":"hello")"), std::string::npos) << received;
  EXPECT_EQ(body_of(json("ReceiveMessage", R"({"QueueUrl":"orders"})")), "{}");
}

TEST_F(ServiceTest, AMessageGoesThroughInQuery) {
  const std::string created = ask(form_request("Action=CreateQueue&QueueName=orders"));
  EXPECT_NE(created.find("<QueueUrl>http://test:1/000000000000/orders</QueueUrl>"),
            std::string::npos)
      << created;
  const std::string path = "/000000000000/orders";
  EXPECT_EQ(status_of(ask(form_request("Action=SendMessage&MessageBody=a%0D%26b", path))), 200);
  const std::string received = ask(form_request("Action=ReceiveMessage", path));
  EXPECT_NE(received.find("<Body>a&#xD;&amp;b</Body>"), std::string::npos) << received;
}

TEST_F(ServiceTest, AnUnknownActionIsRefusedInTheWordsOfTheProtocol) {
  const std::string in_json = json("Nonsense", "{}");
  EXPECT_EQ(status_of(in_json), 400);
  EXPECT_NE(in_json.find("UnknownOperationException"), std::string::npos) << in_json;
  const std::string in_query = ask(form_request("Action=Nonsense"));
  EXPECT_EQ(status_of(in_query), 400);
  EXPECT_NE(in_query.find("<Code>InvalidAction</Code>"), std::string::npos) << in_query;
  EXPECT_NE(in_query.find("The action Nonsense is not valid for this endpoint."),
            std::string::npos);
  const std::string on_queue = ask(form_request("Action=ListQueues", "/000000000000/orders"));
  EXPECT_NE(on_queue.find("<Code>InvalidAction</Code>"), std::string::npos) << on_queue;
}

TEST_F(ServiceTest, WithoutAnActionThereIsNothingThere) {
  const std::string answer = ask("GET /000000000000/orders HTTP/1.1\r\nHost: test:1\r\n\r\n");
  EXPECT_EQ(status_of(answer), 404);
  EXPECT_NE(answer.find("<UnknownOperationException/>"), std::string::npos) << answer;
}

TEST_F(ServiceTest, AQueryThatAcceptsJsonIsAnsweredInJson) {
  ask(form_request("Action=CreateQueue&QueueName=orders"));
  const auto get_json = [&](std::string_view query) {
    return ask(
        fmt::format("GET /000000000000/orders{} HTTP/1.1\r\nHost: test:1\r\n"
                    "Accept: application/json\r\n\r\n",
                    query));
  };
  const std::string found =
      get_json("?Action=GetQueueAttributes&AttributeName.1=DelaySeconds&Version=2012-11-05");
  EXPECT_EQ(status_of(found), 200);
  EXPECT_NE(found.find("Content-Type: application/json\r\n"), std::string::npos) << found;
  EXPECT_TRUE(body_of(found).starts_with(
      R"({"GetQueueAttributesResponse":{"GetQueueAttributesResult":{"Attributes":[)"
      R"({"Name":"DelaySeconds","Value":"0"}]},)"))
      << found;
  const std::string refused = get_json("?Action=ListQueues");
  EXPECT_EQ(status_of(refused), 400);
  EXPECT_NE(refused.find("Content-Type: application/json\r\n"), std::string::npos) << refused;
  EXPECT_NE(refused.find(R"("Code":"InvalidAction","Message":"The action ListQueues is not )"
                         R"(valid for this endpoint.")"),
            std::string::npos)
      << refused;
  const std::string nothing = get_json("");
  EXPECT_EQ(status_of(nothing), 404);
  EXPECT_NE(nothing.find("Content-Type: text/xml\r\n"), std::string::npos) << nothing;
  EXPECT_NE(nothing.find("<UnknownOperationException/>"), std::string::npos) << nothing;
}

// Listings leave the I/O thread, with everything that they need of the request.
TEST_F(ServiceTest, ListingsRunOnThePool) {
  std::atomic<int> runs = 0;
  http::OffloadPool pool(http::OffloadPool::Limits{.threads = 1, .waiting_max = 1});
  service_ = std::make_unique<Service>(
      *engine_,
      gate_,
      ServiceOptions{},
      Service::Hooks{.offload = [&](http::Exchange& exchange, auto handle) {
        return pool.take(exchange,
                         {.serve = [&runs, handle](const http::OffloadPool::TaskPtr& task) {
                           ++runs;
                           http::TaskExchange offloaded(task);
                           handle(offloaded);
                         }});
      }});
  service_->attach(*server_);
  pool.attach(*server_);
  json("CreateQueue", R"({"QueueName":"dead"})");
  for (int i = 0; i < 600; ++i) {  // Several turns.
    json(
        "CreateQueue",
        fmt::format(
            R"({{"QueueName":"q{:03}","Attributes":{{"RedrivePolicy":"{{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:dead\",\"maxReceiveCount\":1}}"}}}})",
            i));
  }
  EXPECT_EQ(runs, 0);
  // Pipelined behind others it is answered in its place.
  client_->send(json_request("ListQueues", R"({"QueueNamePrefix":"q5"})") +
                json_request("SendMessage", R"({"QueueUrl":"dead","MessageBody":"m"})") +
                form_request("Action=ListDeadLetterSourceQueues", "/000000000000/dead"));
  const std::string listed = client_->read_response();
  EXPECT_NE(listed.find("http://test:1/000000000000/q500"), std::string::npos) << listed;
  EXPECT_NE(listed.find("http://test:1/000000000000/q599"), std::string::npos) << listed;
  EXPECT_EQ(listed.find("q400"), std::string::npos) << listed;
  EXPECT_NE(client_->read_response().find("MD5OfMessageBody"), std::string::npos);
  const std::string sources = client_->read_response();
  EXPECT_NE(sources.find("/q000</QueueUrl>"), std::string::npos) << sources;
  EXPECT_NE(sources.find("/q599</QueueUrl>"), std::string::npos) << sources;
  EXPECT_EQ(runs, 2);
  pool.stop();
  EXPECT_EQ(status_of(json("ListQueues", "{}")), 503);
}

TEST_F(ServiceTest, AMissingQueueIsToldInTheWordsOfTheProtocol) {
  const std::string in_json = json("GetQueueUrl", R"({"QueueName":"nowhere"})");
  EXPECT_EQ(status_of(in_json), 400);
  EXPECT_NE(in_json.find("x-amzn-query-error: AWS.SimpleQueueService.NonExistentQueue;Sender"),
            std::string::npos)
      << in_json;
  EXPECT_EQ(
      body_of(in_json),
      R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."})");
  const std::string in_query = ask(form_request("Action=ReceiveMessage", "/000000000000/nowhere"));
  EXPECT_EQ(status_of(in_query), 400);
  EXPECT_NE(in_query.find("<Code>AWS.SimpleQueueService.NonExistentQueue</Code>"),
            std::string::npos);
  EXPECT_NE(in_query.find("The specified queue does not exist for this wsdl version."),
            std::string::npos)
      << in_query;
}

TEST_F(ServiceTest, AMissingParameterIsNamed) {
  json("CreateQueue", R"({"QueueName":"orders"})");
  const std::string no_body = json("SendMessage", R"({"QueueUrl":"orders"})");
  EXPECT_NE(no_body.find("The request must contain the parameter MessageBody."), std::string::npos);
  const std::string no_queue = json("SendMessage", "{}");
  EXPECT_NE(no_queue.find("The request must contain the parameter QueueUrl."), std::string::npos);
}

TEST_F(ServiceTest, HealthIsAPage) {
  EXPECT_EQ(body_of(ask("GET /health HTTP/1.1\r\nHost: test:1\r\n\r\n")), R"({"status":"ok"})");
  EXPECT_EQ(body_of(ask("GET /ready HTTP/1.1\r\nHost: test:1\r\n\r\n")), R"({"status":"ready"})");
}

TEST_F(ServiceTest, ASendAnswersALongPoll) {
  json("CreateQueue", R"({"QueueName":"orders"})");
  RawClient waiting(server_->port());
  ASSERT_TRUE(waiting.send(
      json_request("ReceiveMessage", R"({"QueueUrl":"orders","WaitTimeSeconds":20})")));
  await([&] { return engine_->waiting() == 1; });
  EXPECT_FALSE(waiting.has_input());
  json("SendMessage", R"({"QueueUrl":"orders","MessageBody":"hello"})");
  EXPECT_NE(waiting.read_response().find(R"("Body":"hello")"), std::string::npos);
}

TEST_F(ServiceTest, ALongPollEndsEmptyAtItsDeadline) {
  json("CreateQueue", R"({"QueueName":"orders"})");
  ASSERT_TRUE(client_->send(
      json_request("ReceiveMessage", R"({"QueueUrl":"orders","WaitTimeSeconds":20})")));
  await([&] { return engine_->waiting() == 1; });
  server_->post(0, [this] {
    clock_.advance(std::chrono::seconds(20));
    engine_->tick();
  });
  EXPECT_EQ(body_of(client_->read_response()), "{}");
}

TEST_F(ServiceTest, ALongPollEndsWithItsQueue) {
  json("CreateQueue", R"({"QueueName":"orders"})");
  RawClient waiting(server_->port());
  ASSERT_TRUE(waiting.send(
      json_request("ReceiveMessage", R"({"QueueUrl":"orders","WaitTimeSeconds":20})")));
  await([&] { return engine_->waiting() == 1; });
  json("DeleteQueue", R"({"QueueUrl":"orders"})");
  EXPECT_NE(waiting.read_response().find("QueueDoesNotExist"), std::string::npos);
}

TEST_F(ServiceTest, AClientThatGoesAwayNoLongerWaits) {
  json("CreateQueue", R"({"QueueName":"orders"})");
  {
    RawClient waiting(server_->port());
    ASSERT_TRUE(waiting.send(
        json_request("ReceiveMessage", R"({"QueueUrl":"orders","WaitTimeSeconds":20})")));
    await([&] { return engine_->waiting() == 1; });
    waiting.reset();
  }
  await([&] { return engine_->waiting() == 0; });
  json("SendMessage", R"({"QueueUrl":"orders","MessageBody":"hello"})");
  EXPECT_NE(json("ReceiveMessage", R"({"QueueUrl":"orders"})").find(R"("Body":"hello")"),
            std::string::npos);
}

// The message was taken for a client that is gone before the answer could be written: others may
// have it at once, though no time has passed.
TEST_F(ServiceTest, AnAbandonedAnswerGivesItsMessageBack) {
  json("CreateQueue", R"({"QueueName":"orders"})");
  RawClient waiting(server_->port());
  ASSERT_TRUE(waiting.send(
      json_request("ReceiveMessage", R"({"QueueUrl":"orders","WaitTimeSeconds":20})")));
  await([&] { return engine_->waiting() == 1; });

  // The one I/O thread is kept busy: that the client has gone, and that there is a message for it,
  // it learns in one round.
  std::latch began(1), ends(1);
  server_->post(0, [&] {
    began.count_down();
    ends.wait();
  });
  began.wait();
  waiting.reset();
  std::string tail;
  store::encode_tail(tail, {.body = "hello"});
  const queue::Draft draft{
      .group = {}, .dedup = {}, .tail = tail, .tail_crc = crc32c(tail), .delay = {}};
  ASSERT_TRUE(engine_->send({"000000000000", "us-east-1", "orders"}, {&draft, 1}).has_value());
  ASSERT_EQ(engine_->waiting(), 0u);
  ends.count_down();

  std::string received;
  await([&] {
    received =
        json("ReceiveMessage", R"({"QueueUrl":"orders","MessageSystemAttributeNames":["All"]})");
    return body_of(received) != "{}";
  });
  EXPECT_NE(received.find(R"("Body":"hello")"), std::string::npos);
  EXPECT_NE(received.find(R"("ApproximateReceiveCount":"2")"), std::string::npos) << received;
}

}  // namespace
}  // namespace redrive::sqs
