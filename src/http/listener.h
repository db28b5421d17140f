#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "http/asio.h"
#include "http/loop.h"

namespace redrive::http {

// Accepts connections and hands them on. Lives on one loop's thread; whoever has as many loops as
// cores still accepts on one, since clients keep their connections.
class Listener {
 public:
  using Adopt = std::function<void(Accepted)>;

  Listener(asio::io_context& context, Shared& shared, Adopt adopt);

  // Before the loop runs.
  Result<void> open(const std::string& address, std::uint16_t port);
  std::uint16_t port() const { return port_; }
  void start() { await_client(); }
  // On the loop's thread.
  void close();

 private:
  void await_client();
  void accept_some();
  void admit(Accepted accepted);
  void pause();
  Result<void> listen(const asio::ip::tcp::endpoint& endpoint);

  Shared& shared_;
  const Adopt adopt_;
  Acceptor acceptor_;
  SteadyTimer pause_timer_;
  asio::ip::tcp protocol_ = asio::ip::tcp::v4();
  std::uint16_t port_ = 0;
};

}  // namespace redrive::http
