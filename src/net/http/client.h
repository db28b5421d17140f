#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/http/outgoing_policy.h"

namespace redrive::http {

struct ClientRequest {
  std::string method = "POST";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds timeout{60'000};
  std::string ca_bundle;   // PEM file of trusted CAs; empty: the system's.
  bool verify_tls = true;  // Whether the server's certificate and host name are verified.
  // Which addresses the URL may resolve to, checked for each address before connecting. Null: the
  // URL comes from the operator (configuration or command line) and is trusted. With a policy,
  // proxies from the environment are ignored, because the proxy would open the connection instead
  // of us.
  OutgoingPolicyPtr outgoing = nullptr;
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  // The first header with this name (case-insensitive); empty when absent.
  std::string_view header(std::string_view name) const;
};

// Outgoing HTTP through libcurl. Each object has its own keep-alive connection pool and is used by
// one thread at a time.
class Client {
 public:
  Client();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Any HTTP status is a success; an error means that no response arrived.
  Result<ClientResponse> send(const ClientRequest& request);

 private:
  void* curl_;
};

}  // namespace redrive::http
