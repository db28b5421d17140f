#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "cli/apply/deployment.h"
#include "cli/apply/directory_watch.h"
#include "cli/client/queue_document.h"
#include "cli/commands/commands.h"

// redrive function deploy: deploys code to the server, and again whenever it changes.

namespace redrive::cli {
namespace {

constexpr Duration kWatchPatience{500};  // Maximum delay before Ctrl-C is noticed.

struct FunctionDeployOptions {
  DeployOptions what;
  bool watch = false;
};

void announce_function(Session& session, const documents::FunctionConfiguration& function) {
  if (session.json) {
    session.terminal().out << json_line(function);
  } else {
    session.terminal().out << fmt::format("deployed {} ({}{}{}, {} bytes)\n",
                                          harmless(function.function_name),
                                          harmless(function.runtime),
                                          function.handler.empty() ? "" : " ",
                                          harmless(function.handler),
                                          function.code_size);
  }
  session.terminal().out.flush();
  if (function.state_reason) {
    session.terminal().err << fmt::format("warning: {}\n", harmless(*function.state_reason));
  }
}

// A failed deployment does not end the watch: the author can fix the code.
void deploy_again(Session& session, const DeployOptions& options) {
  const auto deployed = deploy(session, options);
  if (deployed) return announce_function(session, **deployed);
  session.terminal().err << fmt::format("redrive: {}\n", harmless(deployed.error().message));
}

Answer<void> run_function_deploy(const FunctionDeployOptions& options, Session& session) {
  std::error_code ignored;
  if (options.watch && !std::filesystem::is_directory(options.what.source, ignored)) {
    return usage_failure("only a directory can be watched");
  }
  // Opened before the first deployment, so that no change is missed.
  std::optional<DirectoryWatch> watch;
  if (options.watch) watch.emplace(TRY(DirectoryWatch::open(options.what.source)));
  const auto deployed = TRY(deploy(session, options.what));
  announce_function(session, *deployed);
  if (!watch) return {};
  Interrupt& interrupt = session.world.interrupt;
  interrupt.watch();
  while (!interrupt.requested()) {
    interrupt.idle_begins();
    const bool changed = watch->wait(kWatchPatience);
    interrupt.idle_ends();
    if (changed) deploy_again(session, options.what);
  }
  return {};
}

}  // namespace

void add_function_deploy(Verb parent, Commands& commands) {
  auto options = std::make_shared<FunctionDeployOptions>();
  Verb verb = parent.verb("deploy", "Create or replace a function");
  verb.option(
      "SOURCE", options->what.source, "A directory, a file, a zip, or the URL of an endpoint");
  verb.option("--name", options->what.name, "Name of the function (default: the directory's name)");
  add_deploy_options(verb, options->what);
  verb.flag("--watch", options->watch, "Deploy again when the directory changes");
  commands.attach(verb,
                  [options](Session& session) { return run_function_deploy(*options, session); });
}

}  // namespace redrive::cli
