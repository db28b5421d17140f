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
// Names are never forgotten, and a client chooses its User-Agent. So of one key at one address a
// day brings at most kVariantsPerDay names with fields; beyond that its attempts have the plain
// name. Names of functions follow from deploys and are not bounded.
class ConsumerLimit {
 public:
  static constexpr std::size_t kVariantsPerDay = 64;
  static constexpr std::size_t kPlainNamesMax = 4096;  // Watched at a time.

  // For a name that is not known yet. Good until the next call. Asking again for the same name is
  // cheap and changes nothing: a consumer may ask often before there is a message for it.
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
