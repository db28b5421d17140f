#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "cli/terminal.h"

namespace redrive::cli {

// A terminal taken over for a picture that is drawn again and again: its other screen, without a
// cursor, keys as they are pressed. Everything is put back at the end. For one thread.
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
  // The next key, or nothing when so much time has passed or a signal came.
  std::optional<char> key_within(Duration time);

 private:
  Terminal& terminal_;
  bool raw_ = false;
  termios before_{};
};

}  // namespace redrive::cli
