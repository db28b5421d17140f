#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/client/failure.h"
#include "cli/client/session.h"
#include "cli/client/verb.h"
#include "cli/client/world.h"

namespace redrive::cli {

// Sets up a verb as a command: adds the common options, opens its session, reports its failure.
class Commands {
 public:
  using Run = std::function<Answer<void>(Session&)>;
  using QueueNamed = std::function<std::string()>;

  // Both must outlive the parsing of the command line; this object need not.
  Commands(World& world, int& exit_code) : world_(world), exit_code_(exit_code) {}

  // `queue_named` returns the queue argument after parsing.
  void attach(
      Verb verb, Run run, QueueNamed queue_named = [] { return std::string(); });

  // For a command that needs no server.
  void attach_offline(Verb verb, std::function<Answer<void>(World&)> run);

 private:
  World& world_;
  int& exit_code_;
};

// Prints `redrive: code: message`, with a hint if there is one, and returns the exit code.
int report(const Failure& failure, const std::string& verb, Terminal& terminal);

}  // namespace redrive::cli
