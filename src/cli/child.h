#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace redrive::cli {

struct ChildRequest {
  std::string command;  // For /bin/sh -c.
  std::string_view input;
  std::vector<std::pair<std::string, std::string>> environment;  // Added to our own.
  Duration time_max{3'600'000};
};

struct ChildOutcome {
  bool succeeded = false;
  std::string reason;  // How it ended, and the end of what it wrote on standard error.
};

// Runs a command with `input` on its standard input, and waits for it. `tick` is called every so
// often meanwhile. The command has a process group of its own, which is killed when its time is up;
// it is always reaped. What it writes on standard output goes to ours.
ChildOutcome run_child(const ChildRequest& request, Duration tick_every,
                       const std::function<void()>& tick);

}  // namespace redrive::cli
