#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/ids.h"
#include "base/time.h"
#include "cli/client/transport.h"
#include "cli/term/interrupt.h"
#include "cli/term/terminal.h"
#include "net/auth/credentials.h"

namespace redrive::cli {

// External dependencies of a command. The real ones are created in register.cpp; tests use their
// own.
struct World {
  Terminal terminal;
  const auth::Environment& environment;
  const Clock& clock;
  IdSource& ids;  // For the main thread only.
  Interrupt& interrupt;
  std::function<std::unique_ptr<Transport>()> connect;  // Thread-safe.
  std::function<void(Duration)> sleep;                  // Thread-safe.
};

}  // namespace redrive::cli
