#pragma once

#include <memory>

#include "api/witness.h"
#include "http/desk.h"
#include "lambda/call.h"

namespace redrive::lambda {

struct Route;

// Whether a request is for Lambda: one port serves several APIs.
bool is_lambda_request(const http::Request& request);

// The Lambda API on a port. Code is large and disks are slow, so nothing of it runs on the I/O
// threads that serve queues. An answer leaves when everything recorded before it is durable.
class Service {
 public:
  explicit Service(Parts parts);

  // Before the first request.
  void attach(http::Server& server) { desk_.attach(server); }
  // For requests that is_lambda_request() knows as such.
  void handle(http::Exchange& exchange);
  // Answers what waits and ends the threads; the server must still be there. What handlers answer
  // later goes nowhere.
  void stop() { desk_.stop(); }

 private:
  struct Asked;

  void serve(const http::Desk::TaskPtr& task) const;
  Outcome<Answer> run(const Route& route, Call& call, const Asked& asked) const;
  std::function<void(Outcome<Answer>)> responder(std::shared_ptr<const Asked> asked) const;

  const Parts parts_;
  const std::shared_ptr<const api::Witness> witness_;  // Functions may answer after our end.
  http::Desk desk_;
};

}  // namespace redrive::lambda
