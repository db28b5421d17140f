#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/client.h"
#include "bench/latencies.h"
#include "bench/nanos.h"

namespace redrive::bench {

// Totals of all actors of a run.
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
  pause,    // Nothing to do now; ask again when others have progressed.
  done,     // Nothing left to do.
};

// A producer or consumer that uses a client. Decides what to request next, and knows nothing of
// sockets or protocols.
class Actor {
 public:
  explicit Actor(std::unique_ptr<Client> client) : client_(std::move(client)) {}
  virtual ~Actor() = default;

  Client& client() { return *client_; }
  // Writes the next request to `out`.
  virtual Step next(std::string& out) = 0;
  // The request has been answered.
  virtual void finished() = 0;

 private:
  std::unique_ptr<Client> client_;
};

// Sends as fast as it is answered. Each send's latency is recorded, unless a window is set: then
// consumers record the latency that matters.
class Producer final : public Actor {
 public:
  struct Limits {
    int batch = 1;
    std::int64_t count = 0;   // Messages of all producers; 0: unlimited.
    std::int64_t window = 0;  // Maximum number of messages sent and not deleted yet; 0: unlimited.
  };
  Producer(std::unique_ptr<Client> client, const Limits& limits, Tally& tally)
      : Actor(std::move(client)), limits_(limits), tally_(tally) {}

  Step next(std::string& out) override;
  void finished() override;

 private:
  const Limits limits_;
  Tally& tally_;
  Nanos began_{};
};

// Receives and deletes in a loop.
class Consumer final : public Actor {
 public:
  enum class Until {
    empty,    // Done at the first empty receive. Latency: of a receive and its delete together.
    stopped,  // Until stopped. Latency: from the send of a message, by its timestamp, to its
              // arrival.
  };
  Consumer(std::unique_ptr<Client> client, Until until, Tally& tally)
      : Actor(std::move(client)), until_(until), tally_(tally) {}

  Step next(std::string& out) override;
  void finished() override;

 private:
  // The next step: a receive, or deleting what the last one returned.
  enum class Turn { receive, remove };
  Progress begin(std::string& out);
  void note_received();
  void note_removed();

  const Until until_;
  Tally& tally_;
  Turn turn_ = Turn::receive;
  bool saw_empty_ = false;
  Nanos began_{};
};

}  // namespace redrive::bench
