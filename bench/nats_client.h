#pragma once

#include <string>
#include <vector>

#include "bench/client.h"
#include "bench/nats_frame.h"
#include "bench/stamped.h"

namespace redrive::bench {

// A JetStream work queue in files, with one durable pull consumer. Publishes and acks are both
// confirmed. Pulls are requested ahead, so messages arrive while others are being acked.
class NatsClient final : public Client {
 public:
  explicit NatsClient(const Task& task);

  Result<Progress> greet(std::string& in, std::string& out) override;
  void send(std::string& out, Nanos sent) override;
  Progress receive(std::string& out) override;
  Progress remove(std::string& out) override;
  Result<Progress> take(std::string& in, std::string& out) override;

 private:
  Result<void> take_one(const NatsFrame& frame, std::string& out);
  Result<void> take_message(const NatsFrame& frame);
  Result<void> take_created(const NatsFrame& frame);
  void append_greeting(std::string& out) const;
  bool is_complete();

  const Task task_;
  const std::string stream_;
  const std::string inbox_;
  const Stamped send_;
  std::size_t awaited_ = 0;  // Outstanding confirmations of the current request or the handshake.
  int credit_ = 0;           // Requested messages that have not arrived.
  bool pull_ended_ = false;  // The server ended a pull: nothing arrived for a while.
  std::vector<Arrival> waiting_;  // Received from the server, not returned by receive() yet.
};

}  // namespace redrive::bench
