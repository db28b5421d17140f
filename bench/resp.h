#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace redrive::bench {

// RESP, the protocol of Redis. A command is an array of texts:
//
//   *2\r\n $4\r\nXLEN\r\n $1\r\nq\r\n
void append_command(std::string& out, std::span<const std::string_view> words);
void append_command(std::string& out, std::initializer_list<std::string_view> words);

// A flattened response: all its texts in order, regardless of nesting. That suffices for responses
// with a known structure.
struct RespReply {
  std::vector<std::string_view> texts;  // Views into the parsed bytes.
  std::string_view error;               // Without its `-`; empty if there is none.
  std::size_t size = 0;
};

// The response at the start of `bytes`; nullopt while it is incomplete.
Result<std::optional<RespReply>> parse_resp(std::string_view bytes);

}  // namespace redrive::bench
