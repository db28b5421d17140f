#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/outgoing_policy.h"

namespace redrive::http {

struct ClientRequest {
  std::string method = "POST";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds timeout{60'000};
  std::string ca_bundle;   // PEM file of those who may vouch for the server; empty: the system's.
  bool verify_tls = true;  // Whether the server must prove its name.
  // What the URL may lead to, checked for each address before it is connected to. None: the URL is
  // the operator's own, from the configuration or the command line. With a policy no proxy of the
  // environment is used, because then the proxy would do the connecting.
  OutgoingPolicyPtr outgoing = nullptr;
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  // The first header of that name, in any case; empty when absent.
  std::string_view header(std::string_view name) const;
};

// Outgoing HTTP through libcurl. One object is one kept-alive connection pool for one thread.
class Client {
 public:
  Client();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Any status is an answer; an error means that none came.
  Result<ClientResponse> send(const ClientRequest& request);

 private:
  void* curl_;
};

}  // namespace redrive::http
