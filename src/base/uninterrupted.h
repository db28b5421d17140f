#pragma once

#include <cerrno>

namespace redrive {

// Retries a system call that a signal interrupts. Returns what the call returns; errno is set as by
// the call.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace redrive
