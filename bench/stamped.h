#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/nanos.h"

namespace redrive::bench {

// A body begins with the moment it was sent, as so many digits.
inline constexpr std::size_t kStampDigits = 20;
std::optional<Nanos> stamp_of(std::string_view body);

// A body of that size, with a place where the moment goes.
std::string body_text(std::size_t size);

// A request that is sent many times, made once: to send it is to copy it and to write the time into
// each place that body_text() left for it.
class Stamped {
 public:
  explicit Stamped(std::string bytes);

  void append_to(std::string& out, Nanos sent) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> places_;
};

}  // namespace redrive::bench
