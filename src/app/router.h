#pragma once

#include <array>
#include <functional>
#include <optional>

#include "app/offload.h"
#include "app/routing.h"
#include "net/http/browser_guard.h"
#include "net/http/offload_pool.h"
#include "net/http/server.h"

namespace redrive::app {

// How one API is served.
struct Endpoint {
  std::function<void(http::Exchange&)> handle;
  // Which share of the offload pool runs `handle`. Null: it runs on the I/O thread and must be
  // quick, or offloads by itself.
  http::OffloadPool::Pace (*pace)(const http::Request&) = nullptr;
  // Answers in place of `handle` when the pool is full. Needed with a pace.
  std::function<void(http::Exchange&)> refuse_busy = {};
};

// One for each Api.
class EndpointTable {
 public:
  EndpointTable& add(Api api, Endpoint endpoint);
  // Every API has been added; asserted by Router.
  bool is_complete() const;
  const Endpoint& operator[](Api api) const { return endpoints_[static_cast<std::size_t>(api)]; }

 private:
  std::array<Endpoint, kApis> endpoints_;
};

// Hands each request to its API. Refuses requests of web pages if there is a guard.
class Router {
 public:
  // Runs a handler on another thread; false: too much is waiting. See Offload::run.
  using Run = std::function<bool(http::Exchange&, http::OffloadPool::Pace, Offload::Handler)>;

  Router(EndpointTable table, Run run, std::optional<http::BrowserGuard> guard);

  // For http::Server::Hooks::handle.
  void handle(http::Exchange& exchange) const;

 private:
  const EndpointTable table_;
  const Run run_;
  const std::optional<http::BrowserGuard> guard_;
};

// A short text as the answer, for clients that use only the status.
void reply_text(http::Exchange& exchange, int status, std::string_view text);

}  // namespace redrive::app
