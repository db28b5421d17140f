#include "bench/requests.h"

#include <fmt/format.h>

namespace redrive::bench {
namespace {

constexpr std::string_view kHead =
    "POST / HTTP/1.1\r\n"
    "Host: {address}:{port}\r\n"
    "Accept-Encoding: identity\r\n"
    "X-Amz-Target: AmazonSQS.{action}\r\n"
    "Content-Type: application/x-amz-json-1.0\r\n"
    "User-Agent: Boto3/1.35.0 md/Botocore#1.35.0 ua/2.0 os/linux#6.1 md/arch#x86_64 "
    "lang/python#3.12.0 md/pyimpl#CPython cfg/retry-mode#legacy Botocore/1.35.0\r\n"
    "X-Amz-Date: 20250101T000000Z\r\n"
    "Authorization: AWS4-HMAC-SHA256 Credential=bench/20250101/us-east-1/sqs/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={signature:064x}\r\n"
    "amz-sdk-invocation-id: 5f0c1d1e-6d1c-4f43-8d55-2d1b6d1f9a10\r\n"
    "amz-sdk-request: attempt=1\r\n"
    "Content-Length: {size}\r\n"
    "\r\n";

// The members of a message after its body. Timestamp placeholders make deduplication ids unique.
std::string fifo_members(const SendShape& shape, int index) {
  if (shape.group.empty()) return "";
  return fmt::format(R"(, "MessageGroupId": "{}", "MessageDeduplicationId": "{}-{}")",
                     shape.group,
                     body_text(kStampDigits),
                     index);
}

std::string send_body(std::string_view queue_url, const SendShape& shape) {
  const std::string text = body_text(shape.body_bytes);
  if (shape.batch == 1) {
    return fmt::format(
        R"({{"QueueUrl": "{}", "MessageBody": "{}"{}}})", queue_url, text, fifo_members(shape, 0));
  }
  std::string body = fmt::format(R"({{"QueueUrl": "{}", "Entries": [)", queue_url);
  for (int i = 0; i < shape.batch; ++i) {
    body += fmt::format(R"({}{{"Id": "{}", "MessageBody": "{}"{}}})",
                        i == 0 ? "" : ", ",
                        i,
                        text,
                        fifo_members(shape, i));
  }
  return body + "]}";
}

}  // namespace

void append_request(std::string& out, const Endpoint& endpoint, std::string_view action,
                    std::string_view body) {
  fmt::format_to(std::back_inserter(out),
                 kHead,
                 fmt::arg("address", endpoint.address),
                 fmt::arg("port", endpoint.port),
                 fmt::arg("action", action),
                 fmt::arg("signature", 0x5eedu),
                 fmt::arg("size", body.size()));
  out += body;
}

std::string create_queue_request(const Endpoint& endpoint, std::string_view name) {
  std::string out;
  const std::string body =
      fmt::format(R"({{"QueueName": "{}", "Attributes": {{"VisibilityTimeout": "600"{}}}}})",
                  name,
                  name.ends_with(".fifo") ? R"(, "FifoQueue": "true")" : "");
  append_request(out, endpoint, "CreateQueue", body);
  return out;
}

std::string receive_request(const Endpoint& endpoint, std::string_view queue_url,
                            const ReceiveShape& shape) {
  std::string out;
  const std::string body =
      fmt::format(R"({{"QueueUrl": "{}", "MaxNumberOfMessages": {}, "WaitTimeSeconds": {}}})",
                  queue_url,
                  shape.messages_max,
                  shape.wait_seconds);
  append_request(out, endpoint, "ReceiveMessage", body);
  return out;
}

void append_delete_request(std::string& out, const Endpoint& endpoint, std::string_view queue_url,
                           std::span<const Arrival> messages) {
  std::string body = fmt::format(R"({{"QueueUrl": "{}", "Entries": [)", queue_url);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string_view separator = i == 0 ? "" : ", ";
    fmt::format_to(std::back_inserter(body),
                   R"({}{{"Id": "{}", "ReceiptHandle": "{}"}})",
                   separator,
                   i,
                   messages[i].handle);
  }
  body += "]}";
  append_request(out, endpoint, "DeleteMessageBatch", body);
}

Stamped send_request(const Endpoint& endpoint, std::string_view queue_url, const SendShape& shape) {
  const std::string_view action = shape.batch == 1 ? "SendMessage" : "SendMessageBatch";
  std::string bytes;
  append_request(bytes, endpoint, action, send_body(queue_url, shape));
  return Stamped(std::move(bytes));
}

}  // namespace redrive::bench
