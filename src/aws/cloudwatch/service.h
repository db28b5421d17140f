#pragma once

#include <span>

#include "aws/cloudwatch/call.h"

namespace redrive::cloudwatch {

// Whether a request names CloudWatch by its target or path, whatever its signature says.
bool names_cloudwatch(const http::Request& request);
// Whether a request is for CloudWatch: by its signature, its target or its version.
bool is_cloudwatch_request(const http::Request& request);

// The table, for tests and documentation.
std::span<const front::Action<Call>> actions();

// The part of CloudWatch that metrics and alarms of queues and functions need: Query (API version
// 2010-08-01) and AWS JSON 1.0. An answer leaves when everything recorded before it is durable.
class Service {
 public:
  explicit Service(Parts parts);

  void handle(http::Exchange& exchange) const { api_.handle(exchange); }

 private:
  const Parts parts_;
  const front::TableApi<Call> api_;
};

}  // namespace redrive::cloudwatch
