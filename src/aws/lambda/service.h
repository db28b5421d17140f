#pragma once

#include "aws/lambda/call.h"
#include "front/pipeline.h"
#include "net/http/offload_pool.h"

namespace redrive::lambda {

// Whether a request is for Lambda.
bool is_lambda_request(const http::Request& request);

// The Lambda API. Code is large and disks are slow, so nothing runs on the I/O threads that serve
// queues. An answer leaves when everything recorded before it is durable.
class Service final : private front::Api {
 public:
  explicit Service(Parts parts);

  // Before the first request.
  void attach(http::Server& server) { pool_.attach(server); }
  // For requests that is_lambda_request() accepts.
  void handle(http::Exchange& exchange) const { pipeline_.handle(exchange); }
  // Answers waiting requests and ends the threads; the server must still exist. Later answers of
  // handlers are dropped.
  void stop() { pool_.stop(); }

 private:
  front::Pace pace(const http::Request&) const override { return front::Pace::quick; }
  Outcome<void> route(front::RequestContext& context) const override;
  Outcome<http::Answer> run(front::RequestContext& context,
                            const front::Respond& respond) const override;

  const Parts parts_;
  http::OffloadPool pool_;
  const front::Pipeline pipeline_;
};

}  // namespace redrive::lambda
