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

// A message that came, by the name its server wants to hear when it is deleted.
struct Arrival {
  std::string handle;
  std::optional<Nanos> sent;  // By the stamp in its body.
};

// What one client of a queue does, whatever the protocol.
struct Task {
  Role role = Role::producer;
  std::string queue;
  int number = 0;  // Of this client among those of its run.
  int batch = 1;
  int receive_batch = 10;
  std::size_t body_bytes = 1024;
  int wait_seconds = 0;  // Of a receive that finds nothing.
};

// One client's side of a conversation: turns "send", "receive" and "remove" into bytes, and finds
// the answers in what comes back. It knows no socket and no clock, so a table of bytes tests it.
//
// At most one request is under way. `in` holds what has come and was not understood yet; a client
// takes from its front what it understands. `out` is only ever appended to.
class Client {
 public:
  virtual ~Client() = default;

  // What is said before the first request, making the queue included. Called until it is done, at
  // first with nothing in `in`.
  virtual Result<Progress> greet(std::string& in, std::string& out);
  // A send of `Task::batch` messages.
  virtual void send(std::string& out, Nanos sent) = 0;
  // Done at once when messages are here already, where a server brings them unasked.
  virtual Progress receive(std::string& out) = 0;
  // Deletes what the last receive brought. Done at once where servers do not answer to that.
  virtual Progress remove(std::string& out) = 0;
  // Done when the answer to the request under way is complete; an error if it is a refusal.
  virtual Result<Progress> take(std::string& in, std::string& out) = 0;

  // What the last receive brought.
  std::span<const Arrival> received() const { return received_; }

 protected:
  enum class Phase { idle, sending, receiving, removing };

  std::vector<Arrival> received_;
  Phase phase_ = Phase::idle;
};

// Something a server said that it should not have, as an error that quotes it.
std::unexpected<Error> unwelcome(std::string_view server, std::string_view words);

}  // namespace redrive::bench
