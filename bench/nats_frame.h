#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace redrive::bench {

// One message of a NATS server, as views into the bytes it was parsed from:
//
//   MSG <subject> <sid> [reply] <size>\r\n<payload>\r\n
//   HMSG <subject> <sid> [reply] <header size> <size>\r\n<header><payload>\r\n
//   INFO …\r\n   PING\r\n   PONG\r\n   +OK\r\n   -ERR …\r\n
struct NatsFrame {
  enum class Kind { info, ping, pong, ok, error, message, message_with_header };
  Kind kind = Kind::ok;
  std::string_view subscription;
  std::string_view reply;
  std::string_view payload;  // Including the header; for an error, its text.
  std::size_t size = 0;
};

// The frame at the start of `bytes`; nullopt while it is incomplete.
Result<std::optional<NatsFrame>> parse_nats(std::string_view bytes);

}  // namespace redrive::bench
