#pragma once

#include <functional>

#include "http/desk.h"

namespace redrive::server {

// The pool that runs what is not bounded below a millisecond: the management API, metrics,
// CloudWatch, IAM, and the listings of SQS. Two of its four threads are kept free of slow requests,
// and one client has at most one slow request being served, so that neither a search nor a client
// with many of them delays the rest. An answer leaves in the order of its connection and when its
// mark is reached, as if it had been given on the I/O thread.
class Offload {
 public:
  using Handler = std::function<void(http::Exchange&)>;

  Offload();

  // Before the first request.
  void attach(http::Server& server) { desk_.attach(server); }
  // Runs the handler on a thread of the pool. False: too much is waiting.
  bool run(http::Exchange& exchange, http::Desk::Pace pace, Handler handle);
  // Runs what waits and ends the threads; the server must still be there.
  void stop() { desk_.stop(); }

 private:
  http::Desk desk_;
};

}  // namespace redrive::server
