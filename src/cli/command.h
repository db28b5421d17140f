#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "cli/failure.h"
#include "cli/session.h"
#include "cli/world.h"

namespace redrive::cli {

// Turns verbs into commands: gives each the common options, opens its session, reports its failure.
class Commands {
 public:
  using Run = std::function<Answer<void>(Session&)>;
  using QueueNamed = std::function<std::string()>;

  // Both must outlive the parsing of the command line; this object need not.
  Commands(World& world, int& exit_code) : world_(world), exit_code_(exit_code) {}

  // `queue_named` tells what the command line called the queue, once it is parsed.
  void attach(
      CLI::App& verb, Run run, QueueNamed queue_named = [] { return std::string(); });

 private:
  World& world_;
  int& exit_code_;
};

// `redrive queue create`, as people type it.
std::string full_name(const CLI::App& verb);

// Prints `redrive: code: message`, with a hint where there is one, and tells the exit code.
int report(const Failure& failure, const std::string& verb, Terminal& terminal);

// Each in its own file.
void add_queue_create(CLI::App& parent, Commands& commands);
void add_queue_list(CLI::App& parent, Commands& commands);
void add_queue_show(CLI::App& parent, Commands& commands);
void add_queue_set(CLI::App& parent, Commands& commands);
void add_queue_purge(CLI::App& parent, Commands& commands);
void add_queue_remove(CLI::App& parent, Commands& commands);
void add_send(CLI::App& parent, Commands& commands);
void add_receive(CLI::App& parent, Commands& commands);
void add_tail(CLI::App& parent, Commands& commands);
void add_clock(CLI::App& parent, Commands& commands);
void add_reset(CLI::App& parent, Commands& commands);

}  // namespace redrive::cli
