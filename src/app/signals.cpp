#include "app/signals.h"

namespace redrive::app {

Signals::Signals(bool reloads) {
  sigemptyset(&set_);
  sigaddset(&set_, SIGTERM);
  sigaddset(&set_, SIGINT);
  if (reloads) sigaddset(&set_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

int Signals::wait(const std::function<void()>& reload) const {
  while (true) {
    int signal_number = 0;
    if (sigwait(&set_, &signal_number) != 0) continue;
    if (signal_number != SIGHUP) return signal_number;
    reload();
  }
}

}  // namespace redrive::app
