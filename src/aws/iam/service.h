#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "aws/iam/call.h"
#include "front/action_table.h"
#include "front/gate.h"
#include "net/http/server.h"

namespace redrive::iam {

enum class Service { iam, sts };

// Which of the two a request is for, by the scope of its signature or else by the API version it
// names; nothing: it is for another API. For requests of other APIs it reads one header.
std::optional<Service> service_of(const http::Request& request);

// The actions of both, for tests and documentation.
struct ActionInfo {
  std::string_view name;
  Service service;
  std::optional<auth::Right> right;  // None: any authenticated caller.
};
std::vector<ActionInfo> actions();

// The parts of IAM and STS that infrastructure as code needs: roles, their policies, and the
// identity of the caller. Lists can be long, so nothing runs on I/O threads; an answer leaves when
// everything recorded before it is durable.
class Endpoint {
 public:
  Endpoint(const Parts& parts, const front::Gate& gate, const front::Observers& observers = {},
           const front::Offload& offload = {});

  // For requests that service_of() recognises.
  void handle(http::Exchange& exchange, Service service) const {
    (service == Service::iam ? iam_ : sts_).handle(exchange);
  }

 private:
  const Parts parts_;
  const front::TableApi<Call> iam_;
  const front::TableApi<Call> sts_;
};

}  // namespace redrive::iam
