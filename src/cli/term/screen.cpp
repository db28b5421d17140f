#include "cli/term/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace redrive::cli {

Screen::Screen(Terminal& terminal) : terminal_(terminal) {
  raw_ = tcgetattr(STDIN_FILENO, &before_) == 0;
  if (raw_) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C remains a signal.
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  terminal_.out << "\x1b[?1049h\x1b[?25l";
}

Screen::~Screen() {
  terminal_.out << "\x1b[?25h\x1b[?1049l";
  terminal_.out.flush();
  if (raw_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Screen::Size Screen::size() const {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0)
    return {};
  return {.columns = window.ws_col, .rows = window.ws_row};
}

// Overwrites line by line, to avoid flicker.
void Screen::draw(std::string_view text) {
  terminal_.out << "\x1b[H";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    terminal_.out << text.substr(0, end) << "\x1b[K";
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!text.empty()) terminal_.out << '\n';
  }
  terminal_.out << "\x1b[J";
  terminal_.out.flush();
}

std::optional<char> Screen::key_within(Duration time) {
  pollfd keys{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (poll(&keys, 1, static_cast<int>(time.count())) <= 0) return std::nullopt;
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) != 1) return std::nullopt;
  return key;
}

}  // namespace redrive::cli
