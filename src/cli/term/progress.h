#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/term/terminal.h"

namespace redrive::cli {

// A progress line on stderr, redrawn in place; only on a terminal. Not thread-safe.
class Progress {
 public:
  static constexpr Duration kRedrawEvery{100};

  Progress(Terminal& terminal, const Clock& clock, std::optional<std::uint64_t> total,
           std::string done_word = "sent");

  void update(std::uint64_t done);
  // Removes the line, so that other output can follow.
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
