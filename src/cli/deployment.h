#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/session.h"
#include "cli/verb.h"
#include "documents/functions.h"

// What the verbs of `function` have in common, and `dlq try` with them.

namespace redrive::cli {

// The options that say what to run and how.
struct DeployOptions {
  std::string source;  // A directory, a file, a zip, or the URL of an endpoint.
  std::string name;
  std::string handler;
  std::string runtime;
  std::string command;  // For a shell, instead of a handler.
  std::optional<std::int64_t> timeout;
  std::optional<std::int64_t> memory;
  std::vector<std::string> environment;  // NAME=VALUE
  bool in_place = false;
};
void add_deploy_options(Verb verb, DeployOptions& options);

// Creates a function or replaces it, and tells what the server made of it. What the options leave
// out is guessed from the files, or stays as it is.
Answer<Reply<documents::FunctionConfiguration>> deploy(Session& session,
                                                       const DeployOptions& options);

// 2015-03-31/functions/NAME/rest
std::string function_path(std::string_view name, std::string_view rest = {});

// One synchronous run.
struct RunResult {
  bool failed = false;
  std::string payload;
  std::string log;
};
Answer<RunResult> run_function(Session& session, std::string_view name, std::string payload,
                               std::string_view qualifier = {});

// The qualifier for a version as people name it: a published one, an alias, or the first digits of
// code that the function has or had.
Answer<std::string> qualifier_of(Session& session, std::string_view name, std::string_view version);
Answer<Reply<documents::FunctionConfiguration>> describe_function(Session& session,
                                                                  std::string_view name,
                                                                  std::string_view qualifier);

}  // namespace redrive::cli
