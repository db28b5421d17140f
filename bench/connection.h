#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/reply.h"

namespace redrive::bench {

struct Endpoint {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9324;
};

// A kept connection with at most one request under way. It never blocks: who waits, and how, is
// the owner's choice.
class Connection {
 public:
  static Result<Connection> open(const Endpoint& endpoint);
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  int fd() const { return fd_; }
  // The place for the next request's bytes; nothing of an earlier one is left in it. It ends the
  // life of the last reply.
  std::string& compose();
  // Writes as much as the socket takes. True when all of it is out.
  Result<bool> flush();
  // Reads what has come. The reply, once it is complete, lives until the next compose().
  Result<std::optional<Reply>> receive();

 private:
  explicit Connection(int fd) : fd_(fd) {}

  int fd_ = -1;
  std::string out_;
  std::size_t written_ = 0;
  std::string in_;
};

}  // namespace redrive::bench
