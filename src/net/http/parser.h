#pragma once

#include <cstdint>

#include "net/http/buffer.h"
#include "net/http/chunked.h"
#include "net/http/head.h"
#include "net/http/limits.h"
#include "net/http/message.h"

namespace redrive::http {

// Splits a connection's bytes into requests.
//
// Holds only offsets, never pointers: the buffer may move between calls. One Request can therefore
// be shared by all connections of a thread, which keeps idle connections small and the vector of
// headers warm. The outcome does not depend on how the bytes were split into packets.
class Parser {
 public:
  enum class Status : std::uint8_t {
    need_more,      // Read more and call again.
    send_continue,  // Like need_more, but the client expects "100 Continue" before it sends the
                    // body.
    complete,       // `request` is filled in, with views into the buffer.
    refused,        // Send refusal() and close: the start of the next request is unknown.
  };

  // Parses all unread bytes. They must start with the same request until reset().
  Status parse(Buffer& in, const Limits& limits, Request& request);

  // After complete: the request's size in the buffer. Consume it, then call reset().
  std::size_t request_bytes() const { return head_.bytes + body_bytes(); }
  bool http_1_0() const { return head_.http_1_0; }
  // After refused.
  const Refusal& refusal() const { return refusal_; }
  // After need_more: how many unread bytes the current request can use at most. Always more than
  // there are.
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
