#include "server/offload.h"

#include <fmt/format.h>

#include "auth/credential.h"

namespace redrive::server {
namespace {

// By address as well as by key: the key is only claimed at this point, and a claim must not use up
// the share of the key's owner.
std::string client_of(const http::Request& request) {
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  return fmt::format("{}@{}", scope ? scope->access_key : "", request.peer);
}

}  // namespace

Offload::Offload()
    : desk_(http::Desk::Limits{
          .threads = 4, .waiting_per_client_max = 500, .slow_max = 2, .slow_per_client_max = 1}) {}

bool Offload::run(http::Exchange& exchange, http::Desk::Pace pace, Handler handle) {
  const auto serve = [handle = std::move(handle)](const http::Desk::TaskPtr& task) {
    http::TaskExchange offloaded(task);
    handle(offloaded);
  };
  return desk_.take(exchange,
                    {.serve = serve, .pace = pace, .client = client_of(exchange.request())});
}

}  // namespace redrive::server
