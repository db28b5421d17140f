#pragma once

#include <string>
#include <vector>

#include "aws/s3/answer.h"
#include "front/gate.h"
#include "front/pipeline.h"
#include "net/http/offload_pool.h"
#include "objects/store.h"
#include "objects/uploads.h"

namespace redrive::s3 {

// The S3 subset. Objects are large and disks are slow, so nothing runs on the I/O threads that
// serve queues.
class Service final : private front::Api {
 public:
  struct Parts {
    objects::Store& store;
    objects::Uploads& uploads;
    const front::Gate& gate;
    std::vector<std::string> domains;  // Of virtual-host addresses, in addition to localhost.
    front::Observers observers = {};
  };

  explicit Service(Parts parts);

  // Before the first request.
  void attach(http::Server& server) { pool_.attach(server); }
  // For requests that is_s3_request() accepts.
  void handle(http::Exchange& exchange) const { pipeline_.handle(exchange); }
  // Answers waiting requests and ends the threads; the server must still exist.
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

}  // namespace redrive::s3
