#pragma once

#include <chrono>
#include <cstddef>

namespace redrive::http {

// Every limit of the HTTP server. Clients cannot exceed any of them; the comment gives the status a
// client receives when it tries.
struct Limits {
  std::size_t connections_max = 20'000;      // 503, then closed.
  std::size_t target_bytes_max = 16u << 10;  // 414
  std::size_t head_bytes_max = 32u << 10;    // Request line and all headers: 431
  std::size_t headers_max = 100;             // 431
  // 413. Large enough for a 1 MiB batch with every byte percent-encoded.
  std::size_t body_bytes_max = 8u << 20;
  // 413. For requests that upload objects or function code; see is_upload() in head.cpp.
  std::size_t upload_bytes_max = 65u << 20;
  // 503. Total of incomplete requests over all connections. The last quarter is reserved for small
  //   requests, so that a few clients with large ones do not shut out the others.
  std::size_t unfinished_bytes_max = 256u << 20;
  // Total of responses that clients have not read yet, over all connections; beyond it connections
  // are closed. The same limit applies separately to large responses held for a sync; beyond it new
  // requests get 503.
  std::size_t unsent_bytes_max = 256u << 20;
  // From the first byte of a request to its last (408), and for the TLS handshake (closed).
  std::chrono::milliseconds request_time_max{30'000};
  // Between requests on a keep-alive connection; then closed.
  std::chrono::milliseconds idle_time_max{120'000};
  // For the client to read each 64 KiB of a response; then closed.
  std::chrono::milliseconds reply_time_max{30'000};
};

}  // namespace redrive::http
