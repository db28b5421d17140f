#pragma once

#include "api/witness.h"
#include "cloudwatch/call.h"
#include "http/server.h"

namespace redrive::cloudwatch {

// Whether a request is for CloudWatch: by its signature, its target or its version.
bool is_cloudwatch_request(const http::Request& request);

// The part of CloudWatch that metrics and alarms of queues and functions need: Query (API version
// 2010-08-01) and AWS JSON 1.0. RPC with CBOR is refused with 415 and told what to use. Runs on the
// connection's I/O thread; an answer leaves when everything recorded before it is durable.
class Service {
 public:
  explicit Service(Parts parts);

  void handle(http::Exchange& exchange);

 private:
  struct Asked;

  Result<std::string> answer(Asked& asked) const;
  Result<Value> run(const Action& action, const Parameters& parameters, Asked& asked) const;
  void write_down(const Parameters& parameters, const Asked& asked, const api::Caller& caller,
                  const Error* error) const;

  const Parts parts_;
  const api::Witness witness_;
};

}  // namespace redrive::cloudwatch
