#pragma once

#include <functional>

#include "net/http/offload_pool.h"

namespace redrive::app {

// The pool that runs what is not bounded below a millisecond: the management API, metrics,
// CloudWatch, IAM, and the listings of SQS. Two of its four threads are kept free of slow requests,
// and one client has at most one slow request being served, so that neither a search nor a client
// with many of them delays the rest. An answer is sent in the order of its connection and when its
// sync point is reached, as if it had been given on the I/O thread.
class Offload {
 public:
  using Handler = std::function<void(http::Exchange&)>;
  using Pace = http::OffloadPool::Pace;

  Offload();

  // Before the first request.
  void attach(http::Server& server) { pool_.attach(server); }
  // Runs the handler on a thread of the pool. False: too much is waiting.
  bool run(http::Exchange& exchange, Pace pace, Handler handle);
  // The same for front::Pipeline.
  bool take(http::Exchange& exchange, Pace pace, http::OffloadPool::Serve serve);
  // Runs what waits and ends the threads; the server must still be there.
  void stop() { pool_.stop(); }

 private:
  http::OffloadPool pool_;
};

}  // namespace redrive::app
