#include "cli/term/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace redrive::cli {
namespace {

std::atomic<bool> interrupted = false;
std::atomic<bool> idle = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler touches them");

void on_signal(int) {
  if (idle) _exit(0);
  interrupted = true;
}

}  // namespace

void SignalInterrupt::watch() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool SignalInterrupt::requested() const {
  return interrupted;
}

void SignalInterrupt::idle_begins() {
  idle = true;
  if (interrupted) _exit(0);
}

void SignalInterrupt::idle_ends() {
  idle = false;
}

}  // namespace redrive::cli
