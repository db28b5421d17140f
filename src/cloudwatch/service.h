#pragma once

#include "api/witness.h"
#include "cloudwatch/call.h"
#include "http/server.h"

namespace redrive::cloudwatch {

// Whether a request names CloudWatch by its target or path, whatever its signature says.
bool names_cloudwatch(const http::Request& request);
// Whether a request is for CloudWatch: by its signature, its target or its version.
bool is_cloudwatch_request(const http::Request& request);

// The part of CloudWatch that metrics and alarms of queues and functions need: Query (API version
// 2010-08-01) and AWS JSON 1.0. RPC with CBOR is refused with 415 and told what to use. Not
// for I/O threads: a query may take many milliseconds. An answer leaves when everything recorded
// before it is durable.
class Service {
 public:
  explicit Service(Parts parts);

  void handle(http::Exchange& exchange);
  // Answers that too much is waiting already.
  void refuse_busy(http::Exchange& exchange) const;

 private:
  struct Asked;

  Result<std::string> answer(Asked& asked) const;
  Result<Value> run(const Action& action, const Parameters& parameters, Asked& asked) const;
  void finish(http::Exchange& exchange, const Asked& asked, const Result<std::string>& body) const;
  void write_down(const Parameters& parameters, const Asked& asked, const api::Caller& caller,
                  const Error* error) const;

  const Parts parts_;
  const api::Witness witness_;
};

}  // namespace redrive::cloudwatch
