#include "app/offload.h"

#include <fmt/format.h>

#include "net/auth/credential.h"

namespace redrive::app {
namespace {

// By address as well as by key: the key is only claimed at this point, and a claim must not use up
// the share of the key's owner.
std::string client_of(const http::Request& request) {
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  return fmt::format("{}@{}", scope ? scope->access_key : "", request.peer);
}

}  // namespace

Offload::Offload()
    : pool_(http::OffloadPool::Limits{
          .threads = 4, .waiting_per_client_max = 500, .slow_max = 2, .slow_per_client_max = 1}) {}

bool Offload::run(http::Exchange& exchange, Pace pace, Handler handle) {
  return take(exchange, pace, [handle = std::move(handle)](const http::OffloadPool::TaskPtr& task) {
    http::TaskExchange offloaded(task);
    handle(offloaded);
  });
}

bool Offload::take(http::Exchange& exchange, Pace pace, http::OffloadPool::Serve serve) {
  return pool_.take(
      exchange, {.serve = std::move(serve), .pace = pace, .client = client_of(exchange.request())});
}

}  // namespace redrive::app
