#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "cli/term/terminal.h"

namespace redrive::cli {

// Takes over the terminal for full-screen output: alternate screen, hidden cursor, unbuffered keys.
// Restored by the destructor. For one thread.
class Screen {
 public:
  explicit Screen(Terminal& terminal);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  struct Size {
    std::size_t columns = 80;
    std::size_t rows = 24;
  };
  Size size() const;
  void draw(std::string_view text);
  // The next key; nullopt after `time` or a signal.
  std::optional<char> key_within(Duration time);

 private:
  Terminal& terminal_;
  bool raw_ = false;
  termios before_{};
};

}  // namespace redrive::cli
