#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/gate.h"
#include "api/witness.h"
#include "auth/access_key.h"
#include "engine/engine.h"
#include "http/server.h"
#include "iam/answer.h"

namespace redrive::iam {

// Which of the two a request is for, by the scope of its signature or else by the API version it
// names; nothing: it is somebody else's. Costs a request of another API one look at a header.
std::optional<Service> service_of(const http::Request& request);

// The actions of both, for tests and documentation.
struct ActionInfo {
  std::string_view name;
  Service service;
  std::optional<auth::Right> right;  // None: any authenticated caller.
};
std::vector<ActionInfo> actions();

// IAM and STS as far as infrastructure as code needs them: roles, their policies, and who asks.
// Lists are as long as they are, so it is not for I/O threads; an answer leaves when everything
// recorded before it is durable.
class Endpoint {
 public:
  struct Parts {
    engine::Engine& engine;
    const api::Gate& gate;
    api::Observers observers = {};
    // Roles or policies are not what they were; may be empty. Before the answer.
    std::function<void()> changed = {};
  };
  explicit Endpoint(Parts parts);

  // For requests that service_of() knows.
  void handle(http::Exchange& exchange, Service service);
  // Answers that too much is waiting already.
  void refuse_busy(http::Exchange& exchange, Service service) const;

 private:
  struct Asked;

  const api::Witness& witness_of(Service service) const {
    return service == Service::iam ? iam_ : sts_;
  }
  Outcome<std::string> run(Asked& asked) const;
  void finish(http::Exchange& exchange, const Asked& asked,
              const Outcome<std::string>& document) const;

  const Parts parts_;
  const api::Witness iam_;
  const api::Witness sts_;
};

}  // namespace redrive::iam
