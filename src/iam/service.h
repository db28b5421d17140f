#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/gate.h"
#include "engine/engine.h"
#include "http/server.h"
#include "iam/answer.h"

namespace redrive::iam {

// Which of the two a request is for, by the scope of its signature or else by the API version it
// names; nothing: it is somebody else's. Costs a request of another API one look at a header.
std::optional<Service> service_of(const http::Request& request);

// IAM and STS as far as infrastructure as code needs them: roles, their policies, and who asks.
// Runs on the connection's thread; an answer leaves when everything recorded before it is durable.
class Endpoint {
 public:
  struct Parts {
    engine::Engine& engine;
    const api::Gate& gate;
    std::function<void(std::string)> audit;  // A line for the audit log.
  };
  explicit Endpoint(Parts parts) : parts_(std::move(parts)) {}

  // For requests that service_of() knows.
  void handle(http::Exchange& exchange, Service service);

 private:
  Outcome<std::string> run(const http::Request& request, Service service,
                           const std::string& request_id) const;

  const Parts parts_;
};

}  // namespace redrive::iam
