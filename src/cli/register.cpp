#include "cli/register.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <thread>

#include "cli/command.h"

namespace redrive::cli {
namespace {

struct RealWorld {
  auth::SystemEnvironment environment;
  SystemClock clock;
  RandomIds ids;
  SignalInterrupt interrupt;
  World world{.terminal = {.in = std::cin,
                           .out = std::cout,
                           .err = std::cerr,
                           .in_is_terminal = isatty(STDIN_FILENO) == 1,
                           .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                           .err_is_terminal = isatty(STDERR_FILENO) == 1},
              .environment = environment,
              .clock = clock,
              .ids = ids,
              .interrupt = interrupt,
              .connect = [] { return std::make_unique<HttpTransport>(); },
              .sleep = [](Duration pause) { std::this_thread::sleep_for(pause); }};

  RealWorld() {
    const bool wanted = environment.variable("NO_COLOR").value_or("").empty() &&
                        environment.variable("TERM").value_or("") != "dumb";
    world.terminal.colored = world.terminal.out_is_terminal && wanted;
  }
};

// The verb that the command line got as far as.
const CLI::App& deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

}  // namespace

void register_commands(CLI::App& app, int& exit_code) {
  // Commands run while the app parses, which may be as late as the end of main.
  static RealWorld real;
  register_commands(app, real.world, exit_code);
}

void register_commands(CLI::App& app, World& world, int& exit_code) {
  Commands commands(world, exit_code);
  CLI::App* queue = app.add_subcommand("queue", "Create, list, change and delete queues");
  queue->require_subcommand(1);
  add_queue_create(*queue, commands);
  add_queue_list(*queue, commands);
  add_queue_show(*queue, commands);
  add_queue_set(*queue, commands);
  add_queue_purge(*queue, commands);
  add_queue_remove(*queue, commands);
  add_send(app, commands);
  add_receive(app, commands);
  add_tail(app, commands);
  add_clock(app, commands);
  add_reset(app, commands);
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error, std::ostream& out,
                       std::ostream& err) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return app.exit(error, out, err);
  }
  err << fmt::format("redrive: {}\nTry: {} --help\n", error.what(), full_name(deepest(app)));
  return 2;
}

}  // namespace redrive::cli
