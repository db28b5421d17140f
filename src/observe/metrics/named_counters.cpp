#include "observe/metrics/named_counters.h"

namespace redrive::metrics {

void NamedCounters::add(std::string_view name) {
  name = name.substr(0, kNameBytesMax);
  const MutexLock lock(mutex_);
  if (const auto found = counts_.find(name); found != counts_.end()) {
    ++found->second;
  } else {
    ++counts_[std::string(counts_.size() < kNamesMax ? name : kOther)];
  }
}

std::vector<std::pair<std::string, std::uint64_t>> NamedCounters::read() const {
  const MutexLock lock(mutex_);
  return {counts_.begin(), counts_.end()};
}

}  // namespace redrive::metrics
