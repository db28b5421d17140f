#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/error.h"

namespace redrive {

// Failures that a client or a disk can cause are values. Failures that only our own bugs can cause
// are assertions.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

}  // namespace redrive

// Yields the value, or returns the error from the enclosing function.
#define TRY(expression)                                                     \
  __extension__({                                                           \
    auto&& try_result = (expression);                                       \
    if (!try_result) return std::unexpected(std::move(try_result).error()); \
    *std::move(try_result);                                                 \
  })

// The same for Result<void>, which has no value to yield.
#define RETURN_IF_ERROR(expression)                                             \
  do {                                                                          \
    auto&& check_result = (expression);                                         \
    if (!check_result) return std::unexpected(std::move(check_result).error()); \
  } while (false)
