#pragma once

#include <functional>
#include <memory>

#include "auth/credentials.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/time.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/transport.h"

namespace redrive::cli {

// Everything outside itself that a command touches. The real one is made in register.cpp, tests
// make their own.
struct World {
  Terminal terminal;
  const auth::Environment& environment;
  const Clock& clock;
  IdSource& ids;  // For the main thread only.
  Interrupt& interrupt;
  std::function<std::unique_ptr<Transport>()> connect;  // From any thread.
  std::function<void(Duration)> sleep;                  // From any thread.
};

}  // namespace redrive::cli
