// Tests the actors and the loop with a server whose queue is a counter.

#include "bench/load.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "base/text.h"
#include "bench/caller.h"
#include "bench/sqs_client.h"
#include "bench/wake.h"

namespace redrive::bench {
namespace {

using namespace std::chrono_literals;

// Answers every request. A receive takes up to ten of the `waiting` messages; an empty one is
// answered at once, or held until something is sent if `holds_polls`.
class FakeServer {
 public:
  std::atomic<int> waiting = 0;
  std::atomic<int> sent = 0;
  std::atomic<int> deleted = 0;
  std::atomic<bool> holds_polls = false;
  std::atomic<bool> refuses = false;

  FakeServer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 128), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    endpoint_.port = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeServer() {
    stopping_ = true;
    thread_.join();
    for (const auto& [fd, bytes] : clients_) close(fd);
    close(listener_);
  }
  const Endpoint& endpoint() const { return endpoint_; }

 private:
  void serve() {
    while (!stopping_) {
      std::vector<pollfd> watched = {{.fd = listener_, .events = POLLIN, .revents = 0}};
      for (const auto& [fd, bytes] : clients_) watched.push_back({.fd = fd, .events = POLLIN});
      poll(watched.data(), watched.size(), 5);
      for (const pollfd& entry : watched) {
        if (entry.revents == 0) continue;
        entry.fd == listener_ ? void(clients_[accept(listener_, nullptr, nullptr)])
                              : take(entry.fd);
      }
    }
  }

  void take(int fd) {
    char buffer[65536];
    const ssize_t size = read(fd, buffer, sizeof buffer);
    if (size <= 0) {
      clients_.erase(fd);
      close(fd);
      return;
    }
    std::string& request = clients_[fd].append(buffer, static_cast<std::size_t>(size));
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t head = request.find("\r\n\r\n");
    if (head == std::string::npos) return;
    const std::size_t length = std::stoul(request.substr(request.find(kLength) + kLength.size()));
    if (request.size() < head + 4 + length) return;
    answer(fd, std::exchange(request, {}));
  }

  void answer(int fd, const std::string& request) {
    const auto asks = [&](std::string_view action) {
      return request.find(std::string("AmazonSQS.") + std::string(action)) != std::string::npos;
    };
    if (refuses) return write_reply(fd, 400, R"({"__type":"Refused"})");
    if (asks("CreateQueue")) return write_reply(fd, 200, R"({"QueueUrl":"http://here/1/q"})");
    if (asks("SendMessage")) {
      const int count = occurrences(request, "MessageBody");
      sent += count;
      waiting += count;
      last_body_ = request.substr(request.find("MessageBody\": \"") + 15, kStampDigits);
      write_reply(fd, 200, "{}");
      if (held_ != 0) write_messages(std::exchange(held_, 0));
    } else if (asks("DeleteMessageBatch")) {
      deleted += occurrences(request, "ReceiptHandle");
      write_reply(fd, 200, R"({"Successful":[]})");
    } else if (waiting == 0 && holds_polls) {
      held_ = fd;
    } else {
      write_messages(fd);
    }
  }

  void write_messages(int fd) {
    const int count = std::min(10, waiting.load());
    waiting -= count;
    std::string body = R"({"Messages":[)";
    for (int i = 0; i < count; ++i) {
      body += (i == 0 ? "" : ",") + (R"({"ReceiptHandle":"h","Body":")" + last_body_ + "\"}");
    }
    write_reply(fd, 200, body + "]}");
  }

  static int occurrences(std::string_view text, std::string_view what) {
    int count = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
    return count;
  }

  static void write_reply(int fd, int status, const std::string& body) {
    const std::string bytes = "HTTP/1.1 " + std::to_string(status) +
                              " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                              body;
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  const int listener_;
  Endpoint endpoint_;
  std::map<int, std::string> clients_;
  std::string last_body_ = std::string(kStampDigits, '0');
  int held_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

SqsTarget target(const FakeServer& server, const SendShape& shape = {.body_bytes = 64}) {
  return {.endpoint = server.endpoint(),
          .queue_url = "q",
          .receive_request = receive_request(server.endpoint(), "q", {}),
          .sends = {send_request(server.endpoint(), "q", shape)}};
}

std::vector<std::unique_ptr<Actor>> producers(int count, SqsTarget& where,
                                              const Producer::Limits& limits, Tally& tally) {
  std::vector<std::unique_ptr<Actor>> actors;
  for (int i = 0; i < count; ++i) {
    actors.push_back(std::make_unique<Producer>(std::make_unique<SqsClient>(where), limits, tally));
  }
  return actors;
}

std::unique_ptr<Actor> consumer(SqsTarget& where, Consumer::Until until, Tally& tally) {
  return std::make_unique<Consumer>(std::make_unique<SqsClient>(where), until, tally);
}

TEST(Load, SendsAsManyAsAskedFor) {
  for (const int batch : {1, 10}) {
    SCOPED_TRACE(batch);
    FakeServer server;
    SqsTarget where = target(server, {.batch = batch, .body_bytes = 64});
    Tally tally;
    auto load =
        Load::open(server.endpoint(), producers(4, where, {.batch = batch, .count = 200}, tally));
    ASSERT_TRUE(load);
    ASSERT_TRUE((*load)->run(30s));
    EXPECT_EQ(tally.sent, 200);
    EXPECT_EQ(server.sent, 200);
    EXPECT_EQ(tally.requests, 200 / batch);
    EXPECT_EQ(tally.latencies.count(), static_cast<std::size_t>(200 / batch));
  }
}

TEST(Load, LargeRequestsGoOutPieceByPiece) {
  FakeServer server;
  SqsTarget where = target(server, {.batch = 10, .body_bytes = 1u << 20});
  Tally tally;
  auto load = Load::open(server.endpoint(), producers(1, where, {.batch = 10, .count = 20}, tally));
  ASSERT_TRUE(load);
  ASSERT_TRUE((*load)->run(30s));
  EXPECT_EQ(server.sent, 20);
}

TEST(Load, DrainsUntilEmptyAndDeletesAll) {
  FakeServer server;
  server.waiting = 95;
  SqsTarget where = target(server);
  Tally tally;
  std::vector<std::unique_ptr<Actor>> actors;
  for (int i = 0; i < 3; ++i) {
    actors.push_back(consumer(where, Consumer::Until::empty, tally));
  }
  auto load = Load::open(server.endpoint(), std::move(actors));
  ASSERT_TRUE(load);
  ASSERT_TRUE((*load)->run(30s));
  EXPECT_EQ(tally.deleted, 95);
  EXPECT_EQ(server.deleted, 95);
  EXPECT_EQ(tally.empty_receives, 3);
}

TEST(Load, AWindowHoldsProducersBack) {
  FakeServer server;
  SqsTarget where = target(server);
  Tally tally;
  auto load = Load::open(server.endpoint(), producers(4, where, {.batch = 1, .window = 3}, tally));
  ASSERT_TRUE(load);
  ASSERT_TRUE((*load)->run(50ms));
  EXPECT_EQ(tally.started, 3);
}

TEST(Load, DeletesReopenTheWindow) {
  FakeServer server;
  SqsTarget where = target(server);
  Tally tally;
  auto actors = producers(2, where, {.batch = 1, .count = 50, .window = 3}, tally);
  actors.push_back(consumer(where, Consumer::Until::stopped, tally));
  auto load = Load::open(server.endpoint(), std::move(actors));
  ASSERT_TRUE(load);
  ASSERT_TRUE((*load)->run(30s, [&] { return tally.deleted >= 50; }));
  EXPECT_EQ(tally.deleted, 50);
  EXPECT_EQ(tally.latencies.count(), 50u);
  EXPECT_GT(tally.latencies.within(0.5), Nanos::zero());
}

TEST(Load, ARefusalEndsTheRun) {
  FakeServer server;
  server.refuses = true;
  SqsTarget where = target(server);
  Tally tally;
  auto load = Load::open(server.endpoint(), producers(2, where, {.batch = 1}, tally));
  ASSERT_TRUE(load);
  const auto ended = (*load)->run(30s);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, testing::HasSubstr("Refused"));
}

TEST(Load, NobodyThereIsAnError) {
  Tally tally;
  SqsTarget nowhere;
  {
    const FakeServer gone;
    nowhere = target(gone);
  }
  EXPECT_FALSE(Load::open(nowhere.endpoint, producers(1, nowhere, {}, tally)));
}

TEST(CreateQueue, GivesTheUrlOfTheAnswer) {
  FakeServer server;
  const auto url = create_queue(server.endpoint(), "q");
  ASSERT_TRUE(url);
  EXPECT_EQ(*url, "http://here/1/q");
}

TEST(MeasureWake, EverySampleIsAMessageThatAWaitingPollGot) {
  FakeServer server;
  server.holds_polls = true;
  const auto latencies =
      measure_wake(server.endpoint(), "q", {.samples = 3, .body_bytes = 64, .pause = 1ms});
  ASSERT_TRUE(latencies) << latencies.error().message;
  EXPECT_EQ(latencies->count(), 3u);
  EXPECT_EQ(server.deleted, 3);
}

}  // namespace
}  // namespace redrive::bench
