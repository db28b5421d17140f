#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/transport.h"

namespace redrive::cli {

// Answers each action with the responses queued by a test; the last one is repeated.
class FakeServer {
 public:
  struct Call {
    std::string action;
    http::ClientRequest request;
  };
  using Handler = std::function<Result<http::ClientResponse>(const std::string& body)>;

  void answer(const std::string& action, std::string body, int status = 200) {
    handle(action, [=](const std::string&) -> Result<http::ClientResponse> {
      return http::ClientResponse{.status = status, .headers = {}, .body = body};
    });
  }
  void drop(const std::string& action) {
    handle(action, [](const std::string&) -> Result<http::ClientResponse> {
      return fail(ErrorCode::network, "connection refused");
    });
  }
  void handle(const std::string& action, Handler handler) {
    handlers_[action].push_back(std::move(handler));
  }

  Result<http::ClientResponse> serve(const http::ClientRequest& request) {
    const std::lock_guard lock(mutex_);
    // A management API request has no action name: "GET /_redrive/v1/clock".
    const std::size_t path = request.url.find('/', request.url.find("://") + 3);
    std::string action = request.method + " " + request.url.substr(path);
    for (const auto& [name, value] : request.headers) {
      if (name == "X-Amz-Target") action = value.substr(value.find('.') + 1);
    }
    calls.push_back({action, request});
    auto& queue = handlers_[action];
    if (queue.empty()) return fail(ErrorCode::network, "no answer lined up for " + action);
    const Handler handler = queue.front();
    if (queue.size() > 1) queue.pop_front();
    return handler(request.body);
  }

  // The bodies of all requests for one action, in order.
  std::vector<std::string> bodies(const std::string& action) const {
    std::vector<std::string> found;
    for (const Call& call : calls) {
      if (call.action == action) found.push_back(call.request.body);
    }
    return found;
  }

  std::vector<Call> calls;

 private:
  std::mutex mutex_;  // Guards everything here while a command runs.
  std::map<std::string, std::deque<Handler>> handlers_;
};

class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(FakeServer& server) : server_(server) {}
  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    return server_.serve(request);
  }

 private:
  FakeServer& server_;
};

}  // namespace redrive::cli
