#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "aws/cloudwatch/service.h"
#include "base/calendar.h"
#include "tests/core/engine/engine_world.h"
#include "tests/front/fake_exchange.h"

// CloudWatch's API without a port: requests as texts, a history that the test writes.
namespace redrive::cloudwatch {

using Reply = front::FakeReply;

class CloudTest : public testing::Test {
 protected:
  static constexpr Timestamp kStart{1'767'225'600'000};  // 2026-01-01T00:00:00Z
  static constexpr std::string_view kArn = "arn:aws:sqs:us-east-1:000000000000:orders";

  CloudTest() {
    metrics::History& history = history_;
    watcher_.emplace(alarms::Watcher::Parts{.engine = world_.engine(),
                                            .dead_letters = world_.dead_letters(),
                                            .history = history,
                                            .notifier = notifier_,
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
    return front::post(*service_, std::move(headers), body);
  }

  engine::WorldOf<ManualClock> world_;
  VirtualClock wall_{kStart};
  front::Gate gate_{{}, wall_};
  metrics::History history_;
  alarms::Notifier notifier_{
      {.engine = world_.engine(), .invoke = {}, .sync_wanted = {}, .log = {}}};
  std::optional<alarms::Watcher> watcher_;
  std::optional<Service> service_;
};

}  // namespace redrive::cloudwatch
