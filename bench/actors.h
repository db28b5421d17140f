#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/latencies.h"
#include "bench/nanos.h"
#include "bench/requests.h"

namespace redrive::bench {

// What all actors of a run did together.
struct Tally {
  std::int64_t requests = 0;  // Answered.
  std::int64_t started = 0;   // Messages in send requests, answered or not.
  std::int64_t sent = 0;
  std::int64_t deleted = 0;
  std::int64_t empty_receives = 0;
  Latencies latencies;
};

enum class Step {
  request,  // There is a request to send.
  pause,    // Nothing to do now; ask again when others have moved on.
  done,     // Nothing to do any more.
};

// One client on one connection. Knows what to ask next, and nothing of sockets.
class Actor {
 public:
  virtual ~Actor() = default;
  // Writes the next request to `out`, which is empty.
  virtual Step next(std::string& out) = 0;
  virtual Result<void> answered(const Reply& reply) = 0;
};

// Sends as fast as it is answered. Each send's latency counts, unless a window is set: then the
// consumers tell the latency that matters.
class Producer final : public Actor {
 public:
  struct Limits {
    int batch = 1;
    std::int64_t count = 0;   // Messages of all producers together; 0: no end.
    std::int64_t window = 0;  // Messages sent and not yet deleted, at most; 0: any number.
  };
  Producer(const SendRequest& request, const Limits& limits, Tally& tally)
      : request_(request), limits_(limits), tally_(tally) {}

  Step next(std::string& out) override;
  Result<void> answered(const Reply& reply) override;

 private:
  const SendRequest& request_;
  const Limits limits_;
  Tally& tally_;
  Nanos began_{};
};

// Receives, deletes what it received, and so on.
class Consumer final : public Actor {
 public:
  enum class Until {
    empty,    // Done at the first empty answer. Latency: of a receive and its delete together.
    stopped,  // Goes on. Latency: from the send of a message, by its stamp, to its arrival.
  };
  struct Target {
    Endpoint endpoint;
    std::string queue_url;
    std::string receive_request;
    Until until = Until::empty;
  };
  Consumer(const Target& target, Tally& tally) : target_(target), tally_(tally) {}

  Step next(std::string& out) override;
  Result<void> answered(const Reply& reply) override;

 private:
  void take_messages(std::string_view body);

  const Target& target_;
  Tally& tally_;
  std::vector<std::string> handles_;  // Received and not deleted yet.
  bool saw_empty_ = false;
  Nanos began_{};
};

}  // namespace redrive::bench
