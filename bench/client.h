#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/nanos.h"

namespace redrive::bench {

enum class Progress { under_way, done };
enum class Role { producer, consumer };

// A received message, with the handle that the server needs to delete it.
struct Arrival {
  std::string handle;
  std::optional<Nanos> sent;  // From the timestamp in its body.
};

// What one client of a queue does, independent of the protocol.
struct Task {
  Role role = Role::producer;
  std::string queue;
  int number = 0;  // Number of this client in its run.
  int batch = 1;
  int receive_batch = 10;
  std::size_t body_bytes = 1024;
  int wait_seconds = 0;  // For an empty receive.
};

// The protocol side of a client: turns "send", "receive" and "remove" into bytes and parses the
// responses. Uses no socket and no clock, so it can be tested with tables of bytes.
//
// At most one request is in progress. `in` holds unparsed bytes; a client removes what it has
// parsed from the front. `out` is only appended to.
class Client {
 public:
  virtual ~Client() = default;

  // The handshake before the first request, including creation of the queue. Called until it is
  // done, at first with an empty `in`.
  virtual Result<Progress> greet(std::string& in, std::string& out);
  // Sends `Task::batch` messages.
  virtual void send(std::string& out, Nanos sent) = 0;
  // Done immediately if messages are already here, for servers that push.
  virtual Progress receive(std::string& out) = 0;
  // Deletes what the last receive returned. Done immediately for servers that do not respond to
  // deletes.
  virtual Progress remove(std::string& out) = 0;
  // Done when the response to the current request is complete; an error if it was refused.
  virtual Result<Progress> take(std::string& in, std::string& out) = 0;

  // The messages of the last receive.
  std::span<const Arrival> received() const { return received_; }

 protected:
  enum class Phase { idle, sending, receiving, removing };

  std::vector<Arrival> received_;
  Phase phase_ = Phase::idle;
};

// An unexpected server message as an error that quotes it.
std::unexpected<Error> unwelcome(std::string_view server, std::string_view words);

}  // namespace redrive::bench
