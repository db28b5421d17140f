#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/terminal.h"

namespace redrive::cli {

// A line on standard error that is redrawn in place, and only if that is a terminal. The owner
// keeps it to one thread at a time.
class Progress {
 public:
  static constexpr Duration kRedrawEvery{100};

  Progress(Terminal& terminal, const Clock& clock, std::optional<std::uint64_t> total,
           std::string done_word = "sent");

  void update(std::uint64_t done);
  // Takes the line away, so that other output may follow.
  void clear();

 private:
  Terminal& terminal_;
  const Clock& clock_;
  std::optional<std::uint64_t> total_;
  std::string done_word_;
  Timestamp started_;
  Timestamp drawn_;
  bool on_screen_ = false;
};

}  // namespace redrive::cli
