#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/client/session.h"
#include "cli/client/verb.h"
#include "manage/documents/functions.h"

// Shared by the `function` commands and `dlq try`.

namespace redrive::cli {

// Options that say what to run and how.
struct DeployOptions {
  std::string source;  // A directory, a file, a zip, or an endpoint's URL.
  std::string name;
  std::string handler;
  std::string runtime;
  std::string command;  // Shell command, instead of a handler.
  std::optional<std::int64_t> timeout;
  std::optional<std::int64_t> memory;
  std::vector<std::string> environment;  // NAME=VALUE
  bool in_place = false;
};
void add_deploy_options(Verb verb, DeployOptions& options);

// Creates or updates a function and returns the server's configuration of it. Missing options are
// guessed from the files, or keep their current values.
Answer<Reply<documents::FunctionConfiguration>> deploy(Session& session,
                                                       const DeployOptions& options);

// 2015-03-31/functions/NAME/rest
std::string function_path(std::string_view name, std::string_view rest = {});

// Result of a synchronous invocation.
struct RunResult {
  bool failed = false;
  std::string payload;
  std::string log;
};
Answer<RunResult> run_function(Session& session, std::string_view name, std::string payload,
                               std::string_view qualifier = {});

// The qualifier for a version given by the user: a published version, an alias, or the first digits
// of current or earlier code.
Answer<std::string> qualifier_of(Session& session, std::string_view name, std::string_view version);
Answer<Reply<documents::FunctionConfiguration>> describe_function(Session& session,
                                                                  std::string_view name,
                                                                  std::string_view qualifier);

}  // namespace redrive::cli
