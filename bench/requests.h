#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/connection.h"
#include "bench/nanos.h"

namespace redrive::bench {

// Appends one request of the JSON protocol, with the headers that boto3 sends. The signature has
// the right form and is wrong: servers that check it need another tool.
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
                           std::span<const std::string> handles);

// A body begins with the moment it was sent, as so many digits.
inline constexpr std::size_t kStampDigits = 20;
std::optional<Nanos> stamp_of(std::string_view body);

// SendMessage, or SendMessageBatch for more than one message, made once: to send is to copy it and
// to write the time over the digits.
class SendRequest {
 public:
  struct Shape {
    int batch = 1;
    std::size_t body_bytes = 1024;
  };
  SendRequest(const Endpoint& endpoint, std::string_view queue_url, const Shape& shape);

  void write_to(std::string& out, Nanos sent) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> stamps_;  // Offsets of the digits.
};

}  // namespace redrive::bench
