#pragma once

#include <span>

#include "aws/ssm/call.h"

// Parameter Store of AWS Systems Manager: configuration and secrets of functions, by name.

namespace redrive::ssm {

// Whether a request names SSM by its target, whatever its signature says.
bool names_ssm(const http::Request& request);

// The table, for tests and documentation.
std::span<const front::Action<Call>> actions();

// Answers leave when everything recorded before them is durable.
class Service {
 public:
  Service(const Parts& parts, const front::Gate& gate, front::Observers observers = {},
          front::Offload offload = {});

  void handle(http::Exchange& exchange) const { api_.handle(exchange); }

 private:
  const Parts parts_;
  const front::TableApi<Call> api_;
};

}  // namespace redrive::ssm
