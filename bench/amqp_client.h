#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/amqp_frame.h"
#include "bench/client.h"
#include "bench/stamped.h"

namespace redrive::bench {

// A RabbitMQ quorum queue: persistent messages with publisher confirms, and a consumer with
// prefetch. The server pushes messages and does not answer acks.
class AmqpClient final : public Client {
 public:
  explicit AmqpClient(const Task& task);

  Result<Progress> greet(std::string& in, std::string& out) override;
  void send(std::string& out, Nanos sent) override;
  Progress receive(std::string& out) override;
  Progress remove(std::string& out) override;
  Result<Progress> take(std::string& in, std::string& out) override;

 private:
  // Answers one step of the handshake with the next; done after the last one.
  Result<Progress> greet_step(std::string_view payload, std::string& out) const;
  Result<void> take_one(const AmqpFrame& frame);
  Result<void> take_method(std::string_view payload);
  void take_header(std::string_view payload);
  void take_body(std::string_view payload);
  void confirm(std::uint64_t tag, bool multiple);
  bool is_complete();

  const Task task_;
  const Stamped send_;
  bool greeted_ = false;
  std::uint64_t published_ = 0;             // The tag of the last message sent.
  std::vector<std::uint64_t> unconfirmed_;  // Tags of the send in progress.
  std::uint64_t delivered_ = 0;             // Tag of the last message received.
  std::uint64_t body_bytes_missing_ = 0;    // Of that message.
  std::string body_start_;                  // As much of its body as contains the timestamp.
  std::vector<Arrival> waiting_;  // Received from the server, not returned by receive() yet.
};

}  // namespace redrive::bench
