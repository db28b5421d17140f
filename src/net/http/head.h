#pragma once

#include <cstdint>
#include <string_view>

#include "net/http/limits.h"
#include "net/http/message.h"

namespace redrive::http {

// Progress of the parser.
enum class Step : std::uint8_t { need_more, done, refused };

// Why a request is rejected.
struct Refusal {
  int status = 0;
  std::string_view reason;  // Static lifetime.
};

inline Step refuse(Refusal& refusal, int status, std::string_view reason) {
  refusal = {.status = status, .reason = reason};
  return Step::refused;
}

// How a request is framed, according to its head. What handlers need is in Request.
struct Head {
  std::size_t bytes = 0;         // Size of the head, including its empty line.
  std::uint64_t body_bytes = 0;  // 0 if chunked.
  bool chunked = false;
  bool upload = false;  // Subject to upload_bytes_max rather than body_bytes_max.
  bool expects_continue = false;
  bool http_1_0 = false;
};

// Parses a request's head at the start of `bytes`: the request line and the headers, up to the
// empty line. Fills `request` (all but body and peer) and `head` when done, and `refusal` when
// refused.
//
// Reads strictly from left to right and keeps no state between calls: an incomplete head is parsed
// again from its start when more bytes arrive. So the outcome cannot depend on how the bytes were
// split into packets. A head nearly always arrives whole, and is bounded by head_bytes_max.
//
// kBodyPadding bytes must be readable past the end of `bytes`.
Step parse_head(std::string_view bytes, const Limits& limits, Request& request, Head& head,
                Refusal& refusal);

// Parses one header line at `p`, which is not the empty line, and advances `p` past it when done.
// Sets `ascii` to false if the value contains a non-ASCII byte.
Step parse_field(const char*& p, const char* end, Header& field, bool& ascii, Refusal& refusal);

// Parses the empty line that ends headers and trailers, if `p` is at one; `at_end` tells. If it is
// not, nothing is read and the result is `done`.
Step parse_empty_line(const char*& p, const char* end, bool& at_end, Refusal& refusal);

}  // namespace redrive::http
