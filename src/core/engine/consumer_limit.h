#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace redrive::engine {

// Chooses the name under which a consumer's attempts are recorded: the whole one, or the plain one
// without fields (queue::ConsumerName).
//
// Names are never removed, and a client controls its User-Agent. So one key at one address adds at
// most kVariantsPerDay names with fields per day; beyond that its attempts have the plain name.
// Names of functions follow from deploys and are not bounded.
class ConsumerLimit {
 public:
  static constexpr std::size_t kVariantsPerDay = 64;
  static constexpr std::size_t kPlainNamesMax = 4096;  // Tracked at a time.

  // For a name that is not known yet. The result is valid until the next call. Repeated calls with
  // the same name are cheap and change nothing: a consumer may poll often before there is a message
  // for it.
  std::string_view choose(std::string_view text, Timestamp now);

 private:
  struct Day {
    Timestamp since;
    std::vector<std::uint64_t> variants;  // Hashes of the names.
  };
  bool admits(const std::string& plain, std::string_view text, Timestamp now);

  std::map<std::string, Day> days_;
  std::string asked_;   // Last,
  std::string chosen_;  // and what was chosen.
};

}  // namespace redrive::engine
