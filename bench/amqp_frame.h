#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace redrive::bench {

// The subset of AMQP 0-9-1 needed for a queue. A frame is
//
//   u8 type | u16 channel | u32 size | payload | 0xCE
//
// and a method's payload starts with u16 class, u16 method. Numbers are big-endian.
struct AmqpFrame {
  enum Type : std::uint8_t { method = 1, header = 2, body = 3, heartbeat = 8 };
  std::uint8_t type = method;
  std::string_view payload;
  std::size_t size = 0;
};

// The frame at the start of `bytes`; nullopt while it is incomplete.
Result<std::optional<AmqpFrame>> parse_amqp(std::string_view bytes);

// Class and method in one number, as in `kBasicAck`.
constexpr std::uint32_t amqp_id(std::uint16_t class_id, std::uint16_t method_id) {
  return std::uint32_t{class_id} << 16 | method_id;
}

// Writes a payload. Each method returns the writer, for chaining.
class AmqpWriter {
 public:
  AmqpWriter() = default;
  explicit AmqpWriter(std::uint32_t id) { u32(id); }

  AmqpWriter& u8(std::uint8_t value) { return big_endian(value, 1); }
  AmqpWriter& u16(std::uint16_t value) { return big_endian(value, 2); }
  AmqpWriter& u32(std::uint32_t value) { return big_endian(value, 4); }
  AmqpWriter& u64(std::uint64_t value) { return big_endian(value, 8); }
  AmqpWriter& short_text(std::string_view text);
  AmqpWriter& long_text(std::string_view text);

  const std::string& bytes() const { return bytes_; }
  void append_frame(std::string& out, std::uint16_t channel) const;

 private:
  AmqpWriter& big_endian(std::uint64_t value, int size);

  std::string bytes_;
};

void append_amqp_frame(std::string& out, AmqpFrame::Type type, std::uint16_t channel,
                       std::string_view payload);

// Reads a payload. Missing fields are empty.
class AmqpReader {
 public:
  explicit AmqpReader(std::string_view payload) : rest_(payload) {}

  std::uint64_t number(std::size_t size);
  std::string_view short_text();

 private:
  std::string_view take(std::size_t size);

  std::string_view rest_;
};

}  // namespace redrive::bench
