#pragma once

#include "base/result.h"
#include "http/client.h"

namespace redrive::cli {

// One kept-alive way to a server, for one thread. Tests put a script in its place.
class Transport {
 public:
  virtual ~Transport() = default;
  // Any status is an answer; an error means that none came.
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
