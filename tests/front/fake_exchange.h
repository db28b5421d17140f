#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http/server.h"

// An API without a port: requests as values, answers as texts.
namespace redrive::front {

class FakeExchange final : public http::Exchange {
 public:
  explicit FakeExchange(http::Request request) : request_(std::move(request)) {}

  const http::Request& request() const override { return request_; }
  std::string& out() override { return out_; }
  void reply(http::SyncPoint after) override { replied_after = after; }
  void measure(metrics::Histogram&) override {}
  http::ReplyToken gather() override { return {}; }
  http::ReplyToken defer(std::function<void()>) override { return {}; }

  http::SyncPoint replied_after = 0;

 private:
  http::Request request_;
  std::string out_;
};

struct FakeReply {
  int status;
  std::string type;
  std::string body;
  std::string head;

  bool has(std::string_view part) const { return body.find(part) != body.npos; }
};

inline FakeReply reply_of(const std::string& out) {
  const std::size_t head = out.find("\r\n\r\n");
  const std::size_t type = out.find("Content-Type: ") + 14;
  return {.status = std::stoi(out.substr(9, 3)),
          .type = out.substr(type, out.find('\r', type) - type),
          .body = out.substr(head + 4),
          .head = out.substr(0, head)};
}

// POSTs a body to an API: anything with handle(Exchange&).
template <class Service>
FakeReply post(const Service& service, std::vector<http::Header> headers, std::string_view body) {
  const std::string padded = std::string(body) + std::string(http::kBodyPadding, '\0');
  http::Request request;
  request.method = "POST";
  request.target = request.path = "/";
  request.headers = std::move(headers);
  request.body = std::string_view(padded).substr(0, body.size());
  FakeExchange exchange(std::move(request));
  service.handle(exchange);
  return reply_of(exchange.out());
}

}  // namespace redrive::front
