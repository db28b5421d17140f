#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/nanos.h"

namespace redrive::bench {

// A body starts with the time it was sent, in this many digits.
inline constexpr std::size_t kStampDigits = 20;
std::optional<Nanos> stamp_of(std::string_view body);

// A body of that size, with a placeholder for the time.
std::string body_text(std::size_t size);

// A request that is sent many times, built once: sending copies it and writes the time into each
// placeholder left by body_text().
class Stamped {
 public:
  explicit Stamped(std::string bytes);

  void append_to(std::string& out, Nanos sent) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> places_;
};

}  // namespace redrive::bench
