#pragma once

#include <cstdint>

#include "http/buffer.h"
#include "http/chunked.h"
#include "http/head.h"
#include "http/limits.h"
#include "http/message.h"

namespace redrive::http {

// Finds the requests in a connection's bytes, one after the other.
//
// Holds only positions, never pointers: the buffer may move between calls. The Request it fills may
// therefore be shared by all connections of a thread, which keeps idle connections small and its
// vector of headers warm. Which outcome a sequence of bytes has does not depend on how it was cut
// into pieces.
class Parser {
 public:
  enum class Status : std::uint8_t {
    need_more,      // Read more and call again.
    send_continue,  // The same, but the client waits for a "100 Continue" before it sends the body.
    complete,       // `request` is filled, with views into the buffer.
    refused,        // Answer with refusal() and close: where the next request begins is unknown.
  };

  // Looks at all unread bytes. They begin with the same request until reset().
  Status parse(Buffer& in, const Limits& limits, Request& request);

  // After complete: what the request takes up in the buffer. Consume it, then reset().
  std::size_t request_bytes() const { return head_.bytes + body_bytes(); }
  bool http_1_0() const { return head_.http_1_0; }
  // After refused.
  const Refusal& refusal() const { return refusal_; }
  // After need_more: more unread bytes than this are of no use to the current request. Always more
  // than there are.
  std::size_t bytes_useful(const Limits& limits) const;

  void reset() { *this = Parser(); }

 private:
  std::size_t body_bytes() const;
  Status parse_body(Buffer& in, const Limits& limits);

  bool head_done_ = false;
  bool refused_ = false;
  Head head_;
  ChunkDecoder chunks_;
  Refusal refusal_;
};

}  // namespace redrive::http
