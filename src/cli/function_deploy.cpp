#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "cli/command.h"
#include "cli/deployment.h"
#include "cli/directory_watch.h"
#include "cli/queue_document.h"

// redrive function deploy: brings code to the server, and again whenever it changes.

namespace redrive::cli {
namespace {

constexpr Duration kWatchPatience{500};  // How long Ctrl-C may go unnoticed.

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

// A mistake in the code is for its author to mend: it does not end the watching.
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
  // From before the first time, so that no change goes unnoticed.
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
  Verb verb = parent.verb("deploy", "Create a function from a directory or zip, or replace it");
  verb.option("SOURCE", options->what.source, "A directory, a file, a zip or an endpoint's URL");
  verb.option("--name", options->what.name, "What to call it (default: as its directory)");
  add_deploy_options(verb, options->what);
  verb.flag("--watch", options->watch, "Deploy again whenever the directory changes");
  commands.attach(verb,
                  [options](Session& session) { return run_function_deploy(*options, session); });
}

}  // namespace redrive::cli
