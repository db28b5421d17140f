#pragma once

#include <cstdint>

#include "net/http/buffer.h"
#include "net/http/head.h"
#include "net/http/limits.h"

namespace redrive::http {

// Removes the chunk framing from a body, in place.
//
// Between calls the buffer holds: head, decoded body so far, raw bytes not decoded yet. Each call
// moves what it can from the third part to the second and closes the gap, so framing does not
// accumulate: many tiny chunks need no more memory than one large one. Extensions are skipped;
// trailers are checked like headers and dropped.
class ChunkDecoder {
 public:
  // When done, the decoded body is directly followed by the bytes after this request.
  Step decode(Buffer& in, std::size_t head_bytes, const Limits& limits, Refusal& refusal);
  std::size_t body_bytes() const { return body_bytes_; }

 private:
  enum class Phase : std::uint8_t { size_line, data, data_end, trailers };
  struct Cursor;

  Step step(Cursor& cursor, const Limits& limits, Refusal& refusal, bool& whole);
  Step read_size_line(Cursor& cursor, const Limits& limits, Refusal& refusal);
  Step read_data(Cursor& cursor);
  Step read_data_end(Cursor& cursor, Refusal& refusal);
  Step read_trailer(Cursor& cursor, const Limits& limits, Refusal& refusal, bool& whole);

  Phase phase_ = Phase::size_line;
  std::size_t body_bytes_ = 0;
  std::size_t chunk_bytes_left_ = 0;
  std::size_t trailer_bytes_ = 0;
};

// The longest chunk-size line, including its extensions.
inline constexpr std::size_t kChunkLineBytesMax = 1024;

}  // namespace redrive::http
