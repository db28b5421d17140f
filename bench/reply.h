#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace redrive::bench {

// One HTTP response, as views into the bytes it was parsed from.
struct Reply {
  int status = 0;
  std::string_view body;
  std::size_t size = 0;  // Of head and body together.
};

// The response at the start of `bytes`; nullopt while it is incomplete. Responses must have a
// Content-Length.
Result<std::optional<Reply>> parse_reply(std::string_view bytes);

}  // namespace redrive::bench
