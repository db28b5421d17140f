#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace redrive::front {

// Why a request is not served. Every API of the server refuses with this.
//
// An operation either names the status and code itself, or passes on an Error from a lower module;
// the pipeline then looks the status and code up in the error table of the service
// (ApiTraits::refusal_of). Encoders, metrics, the log and the audit log see resolved refusals only.
struct Refusal {
  Refusal(int the_status, std::string_view the_code, std::string the_message)
      : status(the_status), code(the_code), message(std::move(the_message)) {}
  Refusal(Error error) : message(std::move(error.message)), unresolved(error.code) {}

  int status = 0;
  std::string code;
  std::string message;
  std::string reason = {};  // Lambda's Reason of a throttled invocation.
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::optional<ErrorCode> unresolved = {};  // Status and code are still to be looked up.
  bool unauthenticated = false;              // The caller could not prove its identity.
};

// What an operation yields: a value, or the refusal. TRY and RETURN_IF_ERROR of a Result<T> work in
// functions that return this.
template <class T>
class [[nodiscard]] Outcome : public std::expected<T, Refusal> {
 public:
  using std::expected<T, Refusal>::expected;
};

inline std::unexpected<Refusal> refuse(int status, std::string_view code, std::string message) {
  return std::unexpected(Refusal(status, code, std::move(message)));
}

}  // namespace redrive::front
