#pragma once

#include <netdb.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "net/http/loop.h"

namespace redrive::http {

// Accepts connections and passes them on. Lives on one loop's thread: accepting on one thread
// suffices for any number of loops, since clients keep their connections open.
class Listener final : private Poller::Watcher {
 public:
  using Adopt = std::function<void(Accepted)>;

  Listener(Poller& poller, Shared& shared, Adopt adopt);

  // Call before the loop runs. Clients are accepted from then on.
  Result<void> open(const std::string& address, std::uint16_t port);
  std::uint16_t port() const { return port_; }
  // Call on the loop's thread.
  void close();

 private:
  void on_events(std::uint32_t events) override;
  void accept_some();
  void admit(Accepted accepted);
  void pause();
  bool listen(const addrinfo& endpoint);

  Shared& shared_;
  const Adopt adopt_;
  Poller& poller_;
  Descriptor socket_;
  Poller::Timer pause_timer_;
  std::uint16_t port_ = 0;
};

}  // namespace redrive::http
