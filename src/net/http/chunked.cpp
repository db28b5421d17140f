#include "net/http/chunked.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "net/http/scan.h"

namespace redrive::http {

namespace {

constexpr std::ptrdiff_t kSizeDigitsMax = 15;  // Keeps the value well within 64 bits.

// `end`, or `limit` bytes past `p` if that comes first.
const char* bounded(const char* p, const char* end, std::size_t limit) {
  return p + std::min(static_cast<std::size_t>(end - p), limit);
}

}  // namespace

// Raw bytes from `p` to `end`. The decoded body ends at `body_end`, which never passes `p`.
struct ChunkDecoder::Cursor {
  char* body_end;
  const char* p;
  const char* end;
};

Step ChunkDecoder::decode(Buffer& in, std::size_t head_bytes, const Limits& limits,
                          Refusal& refusal) {
  char* const body_end = in.data() + head_bytes + body_bytes_;
  Cursor cursor{.body_end = body_end, .p = body_end, .end = in.data() + in.size()};
  bool whole = false;
  Step result = Step::done;
  while (result == Step::done && !whole) result = step(cursor, limits, refusal, whole);

  const auto raw_bytes = static_cast<std::size_t>(cursor.end - cursor.p);
  std::memmove(cursor.body_end, cursor.p, raw_bytes);
  in.truncate(head_bytes + body_bytes_ + raw_bytes);
  return result;
}

Step ChunkDecoder::step(Cursor& cursor, const Limits& limits, Refusal& refusal, bool& whole) {
  switch (phase_) {
    case Phase::size_line:
      return read_size_line(cursor, limits, refusal);
    case Phase::data:
      return read_data(cursor);
    case Phase::data_end:
      return read_data_end(cursor, refusal);
    case Phase::trailers:
      return read_trailer(cursor, limits, refusal, whole);
  }
  return Step::refused;
}

// chunk-size [ ";" extensions ] CRLF
Step ChunkDecoder::read_size_line(Cursor& cursor, const Limits& limits, Refusal& refusal) {
  const char* const end = bounded(cursor.p, cursor.end, kChunkLineBytesMax);
  const bool full = static_cast<std::size_t>(end - cursor.p) == kChunkLineBytesMax;
  std::uint64_t chunk_bytes = 0;
  const char* p = cursor.p;
  for (; p < end && hex_digit(*p) >= 0; ++p) {
    if (p - cursor.p == kSizeDigitsMax) return refuse(refusal, 400, "A chunk size is too long.");
    chunk_bytes = chunk_bytes * 16 + static_cast<unsigned>(hex_digit(*p));
  }
  if (p == end) return Step::need_more;
  if (p == cursor.p) return refuse(refusal, 400, "A chunk has no size.");
  if (*p != '\r' && *p != ';') return refuse(refusal, 400, "A chunk size is malformed.");
  bool ascii = true;
  const char* const stop = skip_value(p, end, ascii);
  if (stop + 1 >= end) {
    return full ? refuse(refusal, 400, "A chunk's extensions are too long.") : Step::need_more;
  }
  if (stop[0] != '\r' || stop[1] != '\n') return refuse(refusal, 400, "A chunk line is malformed.");
  if (chunk_bytes > limits.body_bytes_max - body_bytes_) {
    return refuse(refusal, 413, "The body is too large.");
  }
  cursor.p = stop + 2;
  chunk_bytes_left_ = chunk_bytes;
  phase_ = chunk_bytes == 0 ? Phase::trailers : Phase::data;
  return Step::done;
}

Step ChunkDecoder::read_data(Cursor& cursor) {
  const std::size_t bytes =
      std::min(chunk_bytes_left_, static_cast<std::size_t>(cursor.end - cursor.p));
  std::memmove(cursor.body_end, cursor.p, bytes);
  cursor.body_end += bytes;
  cursor.p += bytes;
  body_bytes_ += bytes;
  chunk_bytes_left_ -= bytes;
  if (chunk_bytes_left_ > 0) return Step::need_more;
  phase_ = Phase::data_end;
  return Step::done;
}

Step ChunkDecoder::read_data_end(Cursor& cursor, Refusal& refusal) {
  bool at_end = false;
  const Step step = parse_empty_line(cursor.p, cursor.end, at_end, refusal);
  if (step != Step::done) return step;
  if (!at_end) return refuse(refusal, 400, "A chunk is longer than its size.");
  phase_ = Phase::size_line;
  return Step::done;
}

Step ChunkDecoder::read_trailer(Cursor& cursor, const Limits& limits, Refusal& refusal,
                                bool& whole) {
  const char* const begin = cursor.p;
  const std::size_t limit = limits.head_bytes_max - trailer_bytes_;
  const char* const end = bounded(begin, cursor.end, limit);
  Header dropped;
  Step step = parse_empty_line(cursor.p, end, whole, refusal);
  bool ascii = true;
  if (step == Step::done && !whole) step = parse_field(cursor.p, end, dropped, ascii, refusal);
  if (step == Step::need_more && static_cast<std::size_t>(end - begin) == limit) {
    return refuse(refusal, 431, "The trailers are too large.");
  }
  trailer_bytes_ += static_cast<std::size_t>(cursor.p - begin);
  return step;
}

}  // namespace redrive::http
