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
  std::string reason;  // How it ended, and the end of its stderr.
};

// Runs a command with `input` on its stdin and waits for it, calling `tick` periodically. The
// command has its own process group, which is killed when its time is up; it is always reaped. Its
// stdout is ours.
ChildOutcome run_child(const ChildRequest& request, Duration tick_every,
                       const std::function<void()>& tick);

}  // namespace redrive::cli
