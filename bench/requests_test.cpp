#include "bench/requests.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "bench/json_scan.h"

namespace redrive::bench {
namespace {

const Endpoint kEndpoint{.address = "127.0.0.1", .port = 4711};
constexpr std::string_view kUrl = "http://127.0.0.1:4711/000000000000/q";

struct Split {
  std::string_view head;
  std::string_view body;
};
Split split_request(std::string_view request) {
  const std::size_t end = request.find("\r\n\r\n");
  return {request.substr(0, end), request.substr(end + 4)};
}

std::vector<std::string_view> texts(std::string_view document, std::string_view name) {
  JsonTexts walk(document, name);
  std::vector<std::string_view> found;
  while (const auto text = walk.next()) found.push_back(*text);
  return found;
}

TEST(Requests, SayTheirLengthAndAction) {
  std::string request;
  append_request(request, kEndpoint, "ListQueues", "{\"a\": 1}");
  const auto [head, body] = split_request(request);
  EXPECT_EQ(body, "{\"a\": 1}");
  EXPECT_NE(head.find("\r\nContent-Length: 8"), std::string_view::npos);
  EXPECT_NE(head.find("\r\nHost: 127.0.0.1:4711\r\n"), std::string_view::npos);
  EXPECT_NE(head.find("\r\nX-Amz-Target: AmazonSQS.ListQueues\r\n"), std::string_view::npos);
}

TEST(Requests, SignatureHasItsForm) {
  std::string request;
  append_request(request, kEndpoint, "ListQueues", "{}");
  constexpr std::string_view kName = "Signature=";
  const std::size_t at = request.find(kName);
  ASSERT_NE(at, std::string::npos);
  const std::string signature = request.substr(at + kName.size(), 64);
  EXPECT_TRUE(std::ranges::all_of(signature, [](char c) { return hex_digit(c) >= 0; }))
      << signature;
  EXPECT_EQ(request[at + kName.size() + 64], '\r');
}

std::string send_bytes(const SendShape& shape) {
  std::string request;
  send_request(kEndpoint, kUrl, shape).append_to(request, Nanos(123456789));
  return request;
}

TEST(SendRequest, EveryBodyHasTheSizeAndTheStamp) {
  for (const int batch : {1, 2, 10}) {
    SCOPED_TRACE(batch);
    const std::string request = send_bytes({.batch = batch, .body_bytes = 100});
    const auto bodies = texts(split_request(request).body, "\"MessageBody\"");
    ASSERT_EQ(bodies.size(), static_cast<std::size_t>(batch));
    for (const std::string_view body : bodies) {
      EXPECT_EQ(body.size(), 100u);
      EXPECT_EQ(stamp_of(body), Nanos(123456789));
    }
    const std::size_t single = request.find("AmazonSQS.SendMessage\r\n");
    EXPECT_EQ(single != std::string::npos, batch == 1);
  }
}

TEST(SendRequest, MessagesOfAGroupAreNoDuplicatesOfEachOther) {
  const std::string request = send_bytes({.batch = 2, .body_bytes = 64, .group = "g7"});
  EXPECT_EQ(texts(request, "\"MessageGroupId\""), (std::vector<std::string_view>{"g7", "g7"}));
  EXPECT_EQ(texts(request, "\"MessageDeduplicationId\""),
            (std::vector<std::string_view>{"00000000000123456789-0", "00000000000123456789-1"}));
}

TEST(CreateQueueRequest, KnowsFifoQueuesByTheirName) {
  EXPECT_EQ(texts(create_queue_request(kEndpoint, "q"), "\"FifoQueue\"").size(), 0u);
  EXPECT_EQ(texts(create_queue_request(kEndpoint, "q.fifo"), "\"FifoQueue\"").size(), 1u);
}

TEST(DeleteRequest, NamesEveryHandleOnce) {
  const std::vector<Arrival> messages = {{.handle = "h1", .sent = {}},
                                         {.handle = "h2", .sent = {}}};
  std::string request;
  append_delete_request(request, kEndpoint, kUrl, messages);
  const std::string_view body = split_request(request).body;
  EXPECT_EQ(texts(body, "\"ReceiptHandle\""), (std::vector<std::string_view>{"h1", "h2"}));
  EXPECT_EQ(texts(body, "\"Id\""), (std::vector<std::string_view>{"0", "1"}));
}

}  // namespace
}  // namespace redrive::bench
