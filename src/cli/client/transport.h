#pragma once

#include "base/result.h"
#include "net/http/client.h"

namespace redrive::cli {

// A keep-alive connection to a server, for one thread. Replaced by a fake in tests.
class Transport {
 public:
  virtual ~Transport() = default;
  // Any HTTP status is a success; an error means that no response arrived.
  virtual Result<http::ClientResponse> send(const http::ClientRequest& request) = 0;
};

class HttpTransport final : public Transport {
 public:
  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    return client_.send(request);
  }

 private:
  http::Client client_;
};

}  // namespace redrive::cli
