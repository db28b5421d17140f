#pragma once

#include "cloudwatch/call.h"
#include "http/server.h"
#include "metrics/action_metrics.h"

namespace redrive::cloudwatch {

// Whether a request is for CloudWatch: by its signature, its target or its version.
bool is_cloudwatch_request(const http::Request& request);

// The names under which this API is measured.
std::vector<std::string_view> measured_actions();

// The part of CloudWatch that metrics and alarms of queues and functions need: Query (API version
// 2010-08-01) and AWS JSON 1.0. RPC with CBOR is refused with 415 and told what to use. Runs on the
// connection's I/O thread; an answer leaves when everything recorded before it is durable.
class Service {
 public:
  explicit Service(Parts parts, metrics::ActionMetrics* measured = nullptr)
      : parts_(std::move(parts)), measured_(measured) {}

  void handle(http::Exchange& exchange);

 private:
  Result<Value> run(const Action& action, const http::Request& request,
                    const Parameters& parameters) const;

  Parts parts_;
  metrics::ActionMetrics* measured_;
};

}  // namespace redrive::cloudwatch
