#pragma once

#include <string>
#include <vector>

#include "bench/client.h"
#include "bench/nats_frame.h"
#include "bench/stamped.h"

namespace redrive::bench {

// A queue as a JetStream work queue in files, with one durable pull consumer. Publishes and acks
// are both confirmed. Pulls are asked for ahead, so messages come while others are being acked.
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
  std::size_t awaited_ = 0;       // Confirmations of the request under way, or of the greeting.
  int credit_ = 0;                // Messages asked for that have not come.
  bool pull_ended_ = false;       // The server gave a pull up: nothing came for a while.
  std::vector<Arrival> waiting_;  // Came, and no receive has taken them yet.
};

}  // namespace redrive::bench
