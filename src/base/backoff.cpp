#include "base/backoff.h"

#include <algorithm>

namespace redrive {

Backoff::Backoff(IdSource& ids, std::function<void(Duration)> sleep)
    : ids_(ids), sleep_(std::move(sleep)) {}

bool Backoff::again() {
  if (spent()) return false;
  const Duration longest = std::min(kLongest, kFirst * (1 << (attempts_ - 1)));
  const auto half = static_cast<std::uint64_t>(longest.count()) / 2;
  ++attempts_;
  sleep_(Duration(half + ids_.bits() % (half + 1)));
  return true;
}

}  // namespace redrive
