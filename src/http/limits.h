#pragma once

#include <chrono>
#include <cstddef>

namespace redrive::http {

// Every limit of the HTTP server by name. None can be exceeded by what a client sends, and what a
// client is told when it meets one stands beside it.
struct Limits {
  std::size_t connections_max = 20'000;      // 503, and closed.
  std::size_t target_bytes_max = 16u << 10;  // 414
  std::size_t head_bytes_max = 32u << 10;    // Request line and all headers: 431.
  std::size_t headers_max = 100;             // 431
  // 413. A 1 MiB batch, percent-encoded thrice over, still fits.
  std::size_t body_bytes_max = 8u << 20;
  // The same for PUT, which no queue is spoken to with: objects of archive buckets, in chunks.
  std::size_t upload_bytes_max = 65u << 20;
  // Of requests that have not come whole, over all connections: 503. The last quarter is kept for
  // small ones, so that a few greedy clients do not shut out the others.
  std::size_t unfinished_bytes_max = 256u << 20;
  // Of answers that clients have not taken yet, over all connections: those beyond it are closed.
  // And as much again of large answers that may not leave yet: new requests get 503 meanwhile.
  std::size_t unsent_bytes_max = 256u << 20;
  // From the first byte of a request to its last (408), and for the handshake of TLS (closed).
  std::chrono::milliseconds request_time_max{30'000};
  // Between requests on a kept connection; closed.
  std::chrono::milliseconds idle_time_max{120'000};
  // For the client to take each 64 KiB of an answer; closed.
  std::chrono::milliseconds reply_time_max{30'000};
};

}  // namespace redrive::http
