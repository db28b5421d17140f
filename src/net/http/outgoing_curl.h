#pragma once

#include <curl/curl.h>
#include <sys/socket.h>

#include <string>

#include "net/http/outgoing_policy.h"

namespace redrive::http {

// Applies a policy to one libcurl transfer. Must outlive the transfer.
struct OutgoingGuard {
  const OutgoingPolicy& policy;
  std::string host;      // As in the URL.
  bool refused = false;  // The last address tried was not permitted.

  // Called with each resolved address right before connecting, so the name cannot resolve to
  // another address after the check.
  static curl_socket_t open(void* context, curlsocktype, curl_sockaddr* address) {
    auto& guard = *static_cast<OutgoingGuard*>(context);
    guard.refused = !guard.policy.permits(guard.host, address->addr);
    if (guard.refused) return CURL_SOCKET_BAD;
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }
  void install(CURL* curl) {
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, &OutgoingGuard::open);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, this);
  }
  static void release(CURL* curl) {
    curl_easy_setopt(
        curl, CURLOPT_OPENSOCKETFUNCTION, static_cast<curl_opensocket_callback>(nullptr));
  }
};

}  // namespace redrive::http
