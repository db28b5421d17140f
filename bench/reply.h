#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace redrive::bench {

// One HTTP answer, as views into the bytes it was read from.
struct Reply {
  int status = 0;
  std::string_view body;
  std::size_t size = 0;  // Of head and body together.
};

// The answer at the beginning of `bytes`, or nothing while part of it is missing. Answers must say
// their Content-Length: every server worth measuring does.
Result<std::optional<Reply>> parse_reply(std::string_view bytes);

}  // namespace redrive::bench
