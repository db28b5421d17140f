#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "base/result.h"

namespace redrive::cli {

// Why a command did not do what it was asked. It carries the service's own code as text, which may
// be one that this program has never heard of.
struct Failure {
  enum class Kind : std::uint8_t {
    usage,     // The command line; ends with 2.
    refused,   // The service answered no; asking again will not help.
    busy,      // The service cannot now: 5xx or throttling.
    network,   // No answer came.
    reported,  // Already told; only the exit code is left to set.
  };
  Kind kind;
  std::string code;  // Empty where the message says it all.
  std::string message;
  int exit_code = 1;  // Of those that are reported already.

  bool operator==(const Failure&) const = default;
};

template <class T>
class [[nodiscard]] Answer : public std::expected<T, Failure> {
 public:
  using std::expected<T, Failure>::expected;
};

inline std::unexpected<Failure> usage_failure(std::string message) {
  return std::unexpected(Failure{Failure::Kind::usage, "usage", std::move(message)});
}

inline bool worth_retrying(const Failure& failure) {
  return failure.kind == Failure::Kind::busy || failure.kind == Failure::Kind::network;
}

}  // namespace redrive::cli
