#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace redrive::bench {

struct Endpoint {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9324;
};

// A keep-alive connection. Reads and writes never block; the owner decides how to wait.
class Connection {
 public:
  static Result<Connection> open(const Endpoint& endpoint);
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  int fd() const { return fd_; }
  // Received, unconsumed bytes.
  std::string& in() { return in_; }
  // Bytes to send: append, then flush.
  std::string& out() { return out_; }
  // Writes as much as the socket accepts. True if everything is written.
  Result<bool> flush();
  // Appends available bytes to in(), possibly none.
  Result<void> read();

  // These two block, with a timeout.
  Result<void> flush_all();
  Result<void> read_some();

 private:
  explicit Connection(int fd) : fd_(fd) {}
  Result<void> wait_for(short events) const;

  int fd_ = -1;
  std::string out_;
  std::size_t written_ = 0;
  std::string in_;
};

}  // namespace redrive::bench
