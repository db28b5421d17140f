#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace redrive::bench {

struct Endpoint {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9324;
};

// A kept connection. Reading and writing never block: who waits, and how, is the owner's choice.
class Connection {
 public:
  static Result<Connection> open(const Endpoint& endpoint);
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  int fd() const { return fd_; }
  // What has come and nobody took away yet.
  std::string& in() { return in_; }
  // What is to go out: append to it, then flush.
  std::string& out() { return out_; }
  // Writes as much as the socket takes. True when all of it is out.
  Result<bool> flush();
  // Appends what has come to in(), be it nothing.
  Result<void> read();

  // These two wait, with limited patience.
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
