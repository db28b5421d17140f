#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "base/result.h"

namespace redrive::cli {

// Why a command failed. Carries the service's error code as text, which may be unknown to this
// program.
struct Failure {
  enum class Kind : std::uint8_t {
    usage,     // Command line error; exit code 2.
    refused,   // The service refused; a retry will not help.
    busy,      // The service is temporarily unable: 5xx or throttling.
    network,   // No response.
    reported,  // Already printed; only the exit code remains to be set.
  };
  Kind kind;
  std::string code;  // Empty if the message suffices.
  std::string message;
  int exit_code = 1;  // For `reported`.

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
