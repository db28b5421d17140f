#pragma once

#include <cstdint>
#include <string_view>

#include "http/limits.h"
#include "http/message.h"

namespace redrive::http {

// How far reading has come.
enum class Step : std::uint8_t { need_more, done, refused };

// Why a request is not served.
struct Refusal {
  int status = 0;
  std::string_view reason;  // Of static lifetime.
};

inline Step refuse(Refusal& refusal, int status, std::string_view reason) {
  refusal = {.status = status, .reason = reason};
  return Step::refused;
}

// What a request's head says about its framing. The parts that handlers read are in Request.
struct Head {
  std::size_t bytes = 0;         // Of the head itself, with its empty line.
  std::uint64_t body_bytes = 0;  // Unless chunked.
  bool chunked = false;
  bool upload = false;  // The larger limit is for this one.
  bool expects_continue = false;
  bool http_1_0 = false;
};

// Reads a request's head from the beginning of `bytes`: the request line and the headers, up to the
// empty line. Fills `request` (all but body and peer) and `head` when done; `refusal` when refused.
//
// Reads strictly from left to right and keeps nothing between calls: while a head is incomplete it
// is read again from its beginning when more has come. So the outcome cannot depend on how the
// bytes were cut into packets. A head nearly always comes whole, and is bounded by head_bytes_max.
//
// kBodyPadding bytes must be readable behind `bytes`.
Step parse_head(std::string_view bytes, const Limits& limits, Request& request, Head& head,
                Refusal& refusal);

// Reads one header line at `p`, which is not the empty line, and moves `p` behind it when done.
// `ascii` becomes false when the value has a byte beyond ASCII.
Step parse_field(const char*& p, const char* end, Header& field, bool& ascii, Refusal& refusal);

// Reads the empty line that ends headers and trailers, if `p` is at one. `at_end` says whether it
// was; when not, nothing is read and the step is `done`.
Step parse_empty_line(const char*& p, const char* end, bool& at_end, Refusal& refusal);

}  // namespace redrive::http
