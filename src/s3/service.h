#pragma once

#include <string>
#include <vector>

#include "api/gate.h"
#include "api/witness.h"
#include "http/desk.h"
#include "objects/store.h"
#include "objects/uploads.h"
#include "s3/answer.h"

namespace redrive::s3 {

// The S3 subset on a port. Objects are large and disks are slow, so nothing of it runs on the I/O
// threads that serve queues.
class Service {
 public:
  struct Parts {
    objects::Store& store;
    objects::Uploads& uploads;
    const api::Gate& gate;
    std::vector<std::string> domains;  // Of virtual-host addresses, beside localhost.
    api::Observers observers = {};
  };

  explicit Service(Parts parts);

  // Before the first request.
  void attach(http::Server& server) { desk_.attach(server); }
  // For requests that is_s3_request() knows as such.
  void handle(http::Exchange& exchange);
  // Answers what waits and ends the threads; the server must still be there.
  void stop() { desk_.stop(); }

 private:
  struct Asked;

  void serve(const http::Desk::TaskPtr& task) const;
  Outcome<http::Answer> answer(Asked& asked) const;

  const Parts parts_;
  const api::Witness witness_;
  http::Desk desk_;
};

}  // namespace redrive::s3
