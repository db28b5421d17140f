#pragma once

#include <chrono>
#include <cstddef>

namespace redrive::http {

// Every limit of the HTTP server by name. None can be exceeded by what a client sends.
struct Limits {
  std::size_t connections_max = 20'000;
  std::size_t target_bytes_max = 16u << 10;
  std::size_t head_bytes_max = 32u << 10;  // Request line and all headers.
  std::size_t headers_max = 100;
  std::size_t body_bytes_max = 8u << 20;  // A 1 MiB batch, percent-encoded thrice over, still fits.
  std::chrono::milliseconds request_time_max{
      30'000};  // From the first byte of a request to its last.
  std::chrono::milliseconds idle_time_max{120'000};  // Between requests on a kept connection.
};

}  // namespace redrive::http
