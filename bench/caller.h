#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/connection.h"
#include "bench/reply.h"

namespace redrive::bench {

// An unexpected response as an error that quotes it.
std::unexpected<Error> refusal(const Reply& reply);

// One request at a time on a connection, blocking: for setup and for requests besides the load.
class Caller {
 public:
  static Result<Caller> open(const Endpoint& endpoint);

  // Sends only; await() gets the response.
  Result<void> send(std::string_view request);
  // The body of the response, which must be a 200.
  Result<std::string> await();
  Result<std::string> call(std::string_view request);

 private:
  explicit Caller(Connection connection) : connection_(std::move(connection)) {}

  Connection connection_;
};

// Creates the queue, or finds an existing one, and returns its URL.
Result<std::string> create_queue(const Endpoint& endpoint, std::string_view name);

}  // namespace redrive::bench
