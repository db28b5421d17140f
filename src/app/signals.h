#pragma once

#include <signal.h>

#include <functional>

namespace redrive::app {

// Takes the signals that end or reload a server, in the thread that waits for them. Construct it
// before any other thread starts: threads inherit the blocked signals. SIGPIPE is ignored.
class Signals {
 public:
  // With `reloads`, SIGHUP means to read files again. Without, it ends the process, as when a
  // terminal closes.
  explicit Signals(bool reloads);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Blocks until SIGTERM or SIGINT and returns it; calls `reload` for each SIGHUP before.
  int wait(const std::function<void()>& reload) const;

 private:
  sigset_t set_;
};

}  // namespace redrive::app
