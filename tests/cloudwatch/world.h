#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/calendar.h"
#include "cloudwatch/service.h"
#include "tests/engine/engine_world.h"

// CloudWatch's API without a port: requests as texts, a history that the test writes.
namespace redrive::cloudwatch {

class FakeExchange final : public http::Exchange {
 public:
  explicit FakeExchange(http::Request request) : request_(std::move(request)) {}

  const http::Request& request() const override { return request_; }
  std::string& out() override { return out_; }
  void reply(http::Mark) override {}
  void measure(metrics::Histogram&) override {}
  http::Ticket gather() override { return {}; }
  http::Ticket defer(std::function<void()>) override { return {}; }

 private:
  http::Request request_;
  std::string out_;
};

struct Reply {
  int status;
  std::string type;
  std::string body;

  bool has(std::string_view part) const { return body.find(part) != body.npos; }
};

class CloudTest : public testing::Test {
 protected:
  static constexpr Timestamp kStart{1'767'225'600'000};  // 2026-01-01T00:00:00Z
  static constexpr std::string_view kArn = "arn:aws:sqs:us-east-1:000000000000:orders";

  CloudTest() {
    metrics::History& history = history_;
    watcher_.emplace(alarms::Watcher::Parts{.engine = world_.engine(),
                                            .history = history,
                                            .courier = courier_,
                                            .sync_wanted = {},
                                            .rules = {},
                                            .notify = {},
                                            .account = "000000000000"});
    service_.emplace(Parts{.engine = world_.engine(),
                           .gate = gate_,
                           .history = history,
                           .observe = [] {},
                           .watcher = *watcher_,
                           .look = [] {}});
  }

  // What was measured of the queue in that minute after kStart.
  void measured(int minute, const std::map<metrics::QueueMetric, std::int64_t>& given) {
    std::vector<metrics::Point> values(metrics::kQueueMetrics);
    for (const auto& [metric, value] : given) values[metrics::index(metric)] = value;
    history_.record({metrics::Scope::queue, std::string(kArn)},
                    kStart + std::chrono::minutes(minute),
                    values,
                    metrics::History::Between::unknown);
    history_.complete_minutes(kStart + std::chrono::minutes(minute + 1));
  }

  Reply query(std::string_view form) {
    const std::string body = std::string(form) + "&Version=2010-08-01";
    return ask({{"Content-Type", "application/x-www-form-urlencoded"}}, body);
  }
  Reply json(std::string_view action, std::string_view body) {
    const std::string target = "GraniteServiceVersion20100801." + std::string(action);
    return ask({{"Content-Type", "application/x-amz-json-1.0"}, {"X-Amz-Target", target}}, body);
  }

  Reply ask(std::vector<http::Header> headers, std::string_view body) {
    const std::string padded = std::string(body) + std::string(http::kBodyPadding, '\0');
    http::Request request;
    request.method = "POST";
    request.target = request.path = "/";
    request.headers = std::move(headers);
    request.body = std::string_view(padded).substr(0, body.size());
    FakeExchange exchange(std::move(request));
    service_->handle(exchange);
    const std::string& out = exchange.out();
    const std::size_t head = out.find("\r\n\r\n");
    const std::size_t type = out.find("Content-Type: ") + 14;
    return {.status = std::stoi(out.substr(9, 3)),
            .type = out.substr(type, out.find('\r', type) - type),
            .body = out.substr(head + 4)};
  }

  engine::WorldOf<ManualClock> world_;
  VirtualClock wall_{kStart};
  api::Gate gate_{{}, wall_};
  metrics::History history_;
  alarms::Courier courier_{{.engine = world_.engine(), .invoke = {}, .sync_wanted = {}, .log = {}}};
  std::optional<alarms::Watcher> watcher_;
  std::optional<Service> service_;
};

}  // namespace redrive::cloudwatch
