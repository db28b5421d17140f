#pragma once

#include "aws/cloudwatch/call.h"
#include "front/pipeline.h"

namespace redrive::cloudwatch {

// Whether a request names CloudWatch by its target or path, whatever its signature says.
bool names_cloudwatch(const http::Request& request);
// Whether a request is for CloudWatch: by its signature, its target or its version.
bool is_cloudwatch_request(const http::Request& request);

// The part of CloudWatch that metrics and alarms of queues and functions need: Query (API version
// 2010-08-01) and AWS JSON 1.0. RPC with CBOR is refused with 415 and told what to use. Not
// for I/O threads: a query may take many milliseconds. An answer leaves when everything recorded
// before it is durable.
class Service final : private front::Api {
 public:
  explicit Service(Parts parts);

  void handle(http::Exchange& exchange) const { pipeline_.handle(exchange); }

 private:
  front::Pace pace(const http::Request&) const override { return front::Pace::slow; }
  front::Outcome<void> route(front::RequestContext& context) const override;
  front::Outcome<http::Answer> run(front::RequestContext& context,
                                   const front::Respond& respond) const override;

  const Parts parts_;
  const front::Pipeline pipeline_;
};

}  // namespace redrive::cloudwatch
