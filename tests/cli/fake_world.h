#pragma once

#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "cli/client/world.h"
#include "cli/commands/register.h"
#include "tests/cli/fake_environment.h"
#include "tests/cli/fake_server.h"

// A World without network, files or real sleeping, for testing commands.
namespace redrive::cli {

// Interrupts after `polls_left` idle periods.
struct FakeInterrupt final : Interrupt {
  bool watching = false;
  int polls_left = 0;

  void watch() override { watching = true; }
  bool requested() const override { return polls_left <= 0; }
  void idle_begins() override { --polls_left; }
  void idle_ends() override {}
};

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

class FakeWorld {
 public:
  FakeServer server;
  FakeEnvironment environment;
  ManualClock clock;
  SeededIds ids{7};
  FakeInterrupt interrupt;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  std::vector<Duration> pauses;
  std::mutex pauses_mutex;
  World world{.terminal = {.in = in, .out = out, .err = err},
              .environment = environment,
              .clock = clock,
              .ids = ids,
              .interrupt = interrupt,
              .connect = [this] { return std::make_unique<FakeTransport>(server); },
              .sleep =
                  [this](Duration pause) {
                    const std::lock_guard lock(pauses_mutex);
                    pauses.push_back(pause);
                  }};

  // Runs one command line, without the program's name.
  Outcome run(std::vector<std::string> arguments) {
    Program program("redrive", "test", "0");
    int exit_code = 0;
    register_commands(program.root(), world, exit_code);
    out.str("");
    err.str("");
    const int misuse = program.run(std::move(arguments), out, err);
    if (misuse != 0) exit_code = misuse;
    return {exit_code, out.str(), err.str()};
  }
};

}  // namespace redrive::cli
