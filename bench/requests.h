#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/client.h"
#include "bench/connection.h"
#include "bench/stamped.h"

namespace redrive::bench {

// Appends one request of the JSON protocol, with the headers that boto3 sends. The signature is
// well-formed but wrong: servers that verify it need another tool.
void append_request(std::string& out, const Endpoint& endpoint, std::string_view action,
                    std::string_view body);

std::string create_queue_request(const Endpoint& endpoint, std::string_view name);

struct ReceiveShape {
  int messages_max = 10;
  int wait_seconds = 0;
};
std::string receive_request(const Endpoint& endpoint, std::string_view queue_url,
                            const ReceiveShape& shape);
void append_delete_request(std::string& out, const Endpoint& endpoint, std::string_view queue_url,
                           std::span<const Arrival> messages);

// The messages of a send. A group makes it a send to a FIFO queue.
struct SendShape {
  int batch = 1;
  std::size_t body_bytes = 1024;
  std::string group;
};
// SendMessage, or SendMessageBatch for more than one message.
Stamped send_request(const Endpoint& endpoint, std::string_view queue_url, const SendShape& shape);

}  // namespace redrive::bench
