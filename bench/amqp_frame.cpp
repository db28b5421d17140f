#include "bench/amqp_frame.h"

#include <algorithm>

#include "bench/client.h"

namespace redrive::bench {
namespace {

constexpr std::size_t kHeadBytes = 7;
constexpr std::uint8_t kFrameEnd = 0xCE;

}  // namespace

Result<std::optional<AmqpFrame>> parse_amqp(std::string_view bytes) {
  if (bytes.starts_with("AMQP")) return unwelcome("RabbitMQ", "another version of the protocol");
  if (bytes.size() < kHeadBytes) return std::nullopt;
  AmqpReader head(bytes);
  const auto type = static_cast<std::uint8_t>(head.number(1));
  head.number(2);
  const auto payload_size = static_cast<std::size_t>(head.number(4));
  const std::size_t size = kHeadBytes + payload_size + 1;
  if (bytes.size() < size) return std::nullopt;
  if (static_cast<std::uint8_t>(bytes[size - 1]) != kFrameEnd)
    return unwelcome("RabbitMQ", "a frame without its end");
  return AmqpFrame{.type = type, .payload = bytes.substr(kHeadBytes, payload_size), .size = size};
}

AmqpWriter& AmqpWriter::big_endian(std::uint64_t value, int size) {
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
    bytes_ += static_cast<char>(value >> shift & 0xff);
  return *this;
}

AmqpWriter& AmqpWriter::short_text(std::string_view text) {
  u8(static_cast<std::uint8_t>(text.size()));
  bytes_ += text;
  return *this;
}

AmqpWriter& AmqpWriter::long_text(std::string_view text) {
  u32(static_cast<std::uint32_t>(text.size()));
  bytes_ += text;
  return *this;
}

void AmqpWriter::append_frame(std::string& out, std::uint16_t channel) const {
  append_amqp_frame(out, AmqpFrame::method, channel, bytes_);
}

void append_amqp_frame(std::string& out, AmqpFrame::Type type, std::uint16_t channel,
                       std::string_view payload) {
  AmqpWriter head;
  head.u8(type).u16(channel).u32(static_cast<std::uint32_t>(payload.size()));
  out += head.bytes();
  out += payload;
  out += static_cast<char>(kFrameEnd);
}

std::uint64_t AmqpReader::number(std::size_t size) {
  std::uint64_t value = 0;
  for (const char byte : take(size)) value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

std::string_view AmqpReader::short_text() {
  return take(static_cast<std::size_t>(number(1)));
}

std::string_view AmqpReader::take(std::size_t size) {
  const std::string_view taken = rest_.substr(0, std::min(size, rest_.size()));
  rest_.remove_prefix(taken.size());
  return taken;
}

}  // namespace redrive::bench
