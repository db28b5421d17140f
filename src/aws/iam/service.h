#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aws/iam/answer.h"
#include "core/engine/engine.h"
#include "front/gate.h"
#include "front/pipeline.h"
#include "net/auth/access_key.h"
#include "net/http/server.h"

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
    const front::Gate& gate;
    front::Observers observers = {};
    // Roles or policies are not what they were; may be empty. Before the answer.
    std::function<void()> changed = {};
    front::Offload offload = {};  // Empty: everything runs on the thread that calls handle().
  };
  explicit Endpoint(Parts parts);
  ~Endpoint();

  // For requests that service_of() knows.
  void handle(http::Exchange& exchange, Service service) const;

 private:
  class Table;

  const std::unique_ptr<const Table> iam_;
  const std::unique_ptr<const Table> sts_;
};

}  // namespace redrive::iam
