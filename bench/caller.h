#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/connection.h"
#include "bench/reply.h"

namespace redrive::bench {

// An answer that is not what was hoped for, as an error that quotes it.
std::unexpected<Error> refusal(const Reply& reply);

// One request after another on a connection, waiting for each: what comes before and beside load.
class Caller {
 public:
  static Result<Caller> open(const Endpoint& endpoint);

  // Sends now; the answer is for await(). In between the server is at work, or waiting.
  Result<void> send(std::string_view request);
  // The body of the answer, which must be a 200.
  Result<std::string> await();
  Result<std::string> call(std::string_view request);

 private:
  explicit Caller(Connection connection) : connection_(std::move(connection)) {}

  Connection connection_;
};

// Makes the queue and returns its URL; an existing one of that name will do.
Result<std::string> create_queue(const Endpoint& endpoint, std::string_view name);

}  // namespace redrive::bench
