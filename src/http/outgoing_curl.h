#pragma once

#include <curl/curl.h>
#include <sys/socket.h>

#include <string>

#include "http/outgoing_policy.h"

namespace redrive::http {

// Holds one transfer of libcurl to a policy. Must outlive the transfer.
struct OutgoingPassage {
  const OutgoingPolicy& policy;
  std::string host;      // As the URL has it.
  bool refused = false;  // The address that was tried last was not permitted.

  // Called with each address after its name was resolved and right before connecting, so a name
  // cannot point elsewhere in between.
  static curl_socket_t open(void* context, curlsocktype, curl_sockaddr* address) {
    auto& passage = *static_cast<OutgoingPassage*>(context);
    passage.refused = !passage.policy.permits(passage.host, address->addr);
    if (passage.refused) return CURL_SOCKET_BAD;
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }
  void guard(CURL* curl) {
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, &OutgoingPassage::open);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, this);
  }
  static void release(CURL* curl) {
    curl_easy_setopt(
        curl, CURLOPT_OPENSOCKETFUNCTION, static_cast<curl_opensocket_callback>(nullptr));
  }
};

}  // namespace redrive::http
