#pragma once

#include <functional>
#include <optional>
#include <string>

#include "front/gate.h"
#include "front/request_telemetry.h"
#include "net/http/message.h"
#include "net/http/path_pattern.h"

namespace redrive::front {

// What the audit log records about a request besides its caller and outcome.
struct AuditNote {
  std::string resource;           // Empty: the request named none.
  std::string request_json = {};  // Empty: the request is not recorded, it may hold secrets.
};

// One request on its way through the pipeline, and what each step has found out about it.
struct RequestContext {
  const http::Request& request;
  std::size_t action;  // Index in the service's list; RequestTelemetry::unknown() before routing.
  std::string id = new_request_id();
  http::PathParameters parameters = {};  // What the address names: {queue}, {function}, ...
  // The scope that the signature must have, where the route decides; null: ApiTraits::scope.
  const Gate::Api* scope = nullptr;
  // Set by Api::route: the request is served without credentials, as an anonymous caller.
  bool open = false;
  Caller caller = {};                   // Valid once the request is authenticated.
  std::optional<AuditNote> audit = {};  // Set by Api::run for what the audit log records.
  // The answer comes later, through the Respond that Api::run was given.
  bool later = false;
  // Whether the client is gone, so that long work may end early.
  std::function<bool()> is_abandoned = [] { return false; };

  RequestMark mark() const { return {.id = id, .peer = request.peer, .action = action}; }
};

}  // namespace redrive::front
