#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace redrive::metrics {

// Counts by untrusted names, such as error types: the first few names are counted separately, all
// others together. Thread-safe.
class NamedCounters {
 public:
  static constexpr std::size_t kNamesMax = 16;
  static constexpr std::size_t kNameBytesMax = 128;
  static constexpr std::string_view kOther = "other";

  void add(std::string_view name);
  std::vector<std::pair<std::string, std::uint64_t>> read() const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> counts_ GUARDED_BY(mutex_);
};

}  // namespace redrive::metrics
