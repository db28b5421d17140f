#include "bench/requests.h"

#include <fmt/format.h>

#include <cassert>

#include "base/text.h"

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

// No digit, so that a stamp can be told from what follows it; nothing that JSON would escape.
constexpr std::string_view kFiller = "the quick brown fox jumps over the lazy dog; ";

std::string stamp_text(Nanos time) {
  return fmt::format("{:020}", time.count());
}

std::string body_text(std::size_t size) {
  assert(size >= kStampDigits);
  std::string text = stamp_text(Nanos::zero());
  while (text.size() < size) text += kFiller;
  text.resize(size);
  return text;
}

std::string send_body(std::string_view queue_url, const SendRequest::Shape& shape) {
  const std::string text = body_text(shape.body_bytes);
  if (shape.batch == 1) {
    return fmt::format(R"({{"QueueUrl": "{}", "MessageBody": "{}"}})", queue_url, text);
  }
  std::string body = fmt::format(R"({{"QueueUrl": "{}", "Entries": [)", queue_url);
  for (int i = 0; i < shape.batch; ++i) {
    const std::string_view separator = i == 0 ? "" : ", ";
    body += fmt::format(R"({}{{"Id": "{}", "MessageBody": "{}"}})", separator, i, text);
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
      fmt::format(R"({{"QueueName": "{}", "Attributes": {{"VisibilityTimeout": "600"}}}})", name);
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
                           std::span<const std::string> handles) {
  std::string body = fmt::format(R"({{"QueueUrl": "{}", "Entries": [)", queue_url);
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const std::string_view separator = i == 0 ? "" : ", ";
    fmt::format_to(std::back_inserter(body),
                   R"({}{{"Id": "{}", "ReceiptHandle": "{}"}})",
                   separator,
                   i,
                   handles[i]);
  }
  body += "]}";
  append_request(out, endpoint, "DeleteMessageBatch", body);
}

std::optional<Nanos> stamp_of(std::string_view body) {
  if (body.size() < kStampDigits) return std::nullopt;
  const auto count = parse_int<std::int64_t>(body.substr(0, kStampDigits));
  return count ? std::optional(Nanos(*count)) : std::nullopt;
}

SendRequest::SendRequest(const Endpoint& endpoint, std::string_view queue_url, const Shape& shape) {
  const std::string_view action = shape.batch == 1 ? "SendMessage" : "SendMessageBatch";
  append_request(bytes_, endpoint, action, send_body(queue_url, shape));
  constexpr std::string_view kMember = "\"MessageBody\": \"";
  for (std::size_t at = bytes_.find(kMember); at != std::string::npos;) {
    stamps_.push_back(at + kMember.size());
    at = bytes_.find(kMember, at + kMember.size());
  }
  assert(stamps_.size() == static_cast<std::size_t>(shape.batch));
}

void SendRequest::write_to(std::string& out, Nanos sent) const {
  out = bytes_;
  const std::string stamp = stamp_text(sent);
  for (const std::size_t at : stamps_) stamp.copy(out.data() + at, kStampDigits);
}

}  // namespace redrive::bench
