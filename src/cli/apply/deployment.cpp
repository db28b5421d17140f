#include "cli/apply/deployment.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>

#include "base/file_system.h"
#include "base/text.h"
#include "cli/apply/deploy_guess.h"
#include "cli/client/outgoing.h"
#include "functions/packages/package.h"

namespace redrive::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoSuchResource = "ResourceNotFoundException";

bool is_url(std::string_view text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

void guess(DeployOptions& options) {
  if (is_url(options.source) && options.runtime.empty()) options.runtime = "http";
  if (!options.command.empty() && options.runtime.empty()) options.runtime = "command";
  if (options.source.empty() || is_url(options.source)) return;
  const auto seen = guess_deployment(options.source);
  if (!seen) return;
  // A runtime of another family implies another file.
  const auto family = [](std::string_view runtime) { return runtime.substr(0, 4); };
  const bool fits = options.runtime.empty() || family(options.runtime) == family(seen->runtime);
  if (options.handler.empty() && options.command.empty() && fits) options.handler = seen->handler;
  if (options.runtime.empty()) options.runtime = seen->runtime;
}

std::unexpected<Failure> nothing_to_run(const DeployOptions& options) {
  return usage_failure(
      fmt::format("cannot guess the handler of {}: pass --runtime and --handler (looked for {})",
                  options.source.empty() ? "this" : options.source,
                  guessed_files()));
}

Answer<std::string> name_of(const DeployOptions& options) {
  if (!options.name.empty()) return options.name;
  std::error_code error;
  const fs::path path = fs::weakly_canonical(options.source, error);
  const std::string name = path.stem().string();
  if (options.source.empty() || is_url(options.source) || name.empty()) {
    return usage_failure("pass the function's name: --name NAME");
  }
  return name;
}

// Owns the texts that a request refers to until it is encoded.
struct DeployTexts {
  std::vector<std::pair<std::string, std::string>> environment;
  std::string zip;
  std::string directory;
};

Answer<std::string> read_package(const std::string& source) {
  Result<std::string> zip = std::string();
  if (source.ends_with(".zip") || source.ends_with(".jar")) {
    zip = read_file(source).value_or("");
    if (zip->empty()) return usage_failure(fmt::format("cannot read {}", source));
  } else {
    zip = packages::pack(source);
  }
  if (!zip) return usage_failure(zip.error().message);
  return *std::move(zip);
}

Answer<std::optional<documents::Code>> code_of(const DeployOptions& options, DeployTexts& texts) {
  std::optional<documents::Code> code;
  if (options.source.empty() || is_url(options.source)) return code;
  code.emplace();
  if (options.in_place) {
    std::error_code error;
    texts.directory = fs::canonical(options.source, error).string();
    if (error) return usage_failure(fmt::format("cannot find {}", options.source));
    code->directory = texts.directory;
  } else {
    texts.zip = TRY(read_package(options.source));
    code->zip_file = wire::Blob{texts.zip};
  }
  return code;
}

Answer<documents::FunctionSettings> settings_of(const DeployOptions& options, DeployTexts& texts) {
  documents::FunctionSettings settings{.timeout = options.timeout, .memory_size = options.memory};
  if (!options.runtime.empty()) settings.runtime = options.runtime;
  if (!options.handler.empty()) settings.handler = options.handler;
  if (!options.command.empty()) settings.command = {"/bin/sh", "-c", options.command};
  if (is_url(options.source)) settings.url = options.source;
  for (const std::string& text : options.environment) {
    texts.environment.push_back(TRY(parse_pair(text)));
  }
  if (!texts.environment.empty()) {
    settings.environment.emplace().variables = {texts.environment.begin(), texts.environment.end()};
  }
  return settings;
}

template <class T>
std::string encoded(const T& document) {
  std::string body;
  wire::encode_json(body, document);
  return body;
}

using Configuration = documents::FunctionConfiguration;

Answer<Reply<Configuration>> replace(Session& session, const std::string& name,
                                     const documents::FunctionSettings& settings,
                                     const std::optional<documents::Code>& code) {
  auto reply = TRY(session.service.lambda<Configuration>(
      "PUT", function_path(name, "/configuration"), encoded(settings)));
  if (!code) return reply;
  return session.service.lambda<Configuration>(
      "PUT",
      function_path(name, "/code"),
      encoded(documents::CodeUpdate{.zip_file = code->zip_file, .directory = code->directory}));
}

}  // namespace

void add_deploy_options(Verb verb, DeployOptions& options) {
  verb.option("--handler", options.handler, "Entry point, such as index.handler");
  verb.option("--runtime", options.runtime, "python3.x, nodejsNN.x, provided.*, command, http");
  verb.option("--command", options.command, "Shell command; event on stdin, result on stdout");
  verb.option("--timeout", options.timeout, "Timeout in seconds (default 3)").range(1, 900);
  verb.option("--memory", options.memory, "Memory limit in MiB (default 128)").range(128, 10'240);
  verb.option("--env", options.environment, "Environment variable NAME=VALUE; repeatable")
      .one_at_a_time();
  verb.flag("--in-place", options.in_place, "Run from this directory, without a copy");
}

std::string function_path(std::string_view name, std::string_view rest) {
  return fmt::format("2015-03-31/functions/{}{}", percent_encode(name, false), rest);
}

Answer<Reply<Configuration>> deploy(Session& session, const DeployOptions& given) {
  DeployOptions options = given;
  guess(options);
  const std::string name = TRY(name_of(options));
  DeployTexts texts;
  const auto code = TRY(code_of(options, texts));
  documents::FunctionSettings settings = TRY(settings_of(options, texts));
  const auto there =
      session.service.lambda<Configuration>("GET", function_path(name, "/configuration"));
  if (there) return replace(session, name, settings, code);
  if (there.error().code != kNoSuchResource) return std::unexpected(there.error());
  if (options.runtime.empty()) return nothing_to_run(options);
  settings.function_name = name;
  settings.code = code;
  return session.service.lambda<Configuration>("POST", "2015-03-31/functions", encoded(settings));
}

namespace {

std::string qualified(std::string_view rest, std::string_view qualifier) {
  std::string out(rest);
  if (!qualifier.empty()) out += "?Qualifier=" + percent_encode(qualifier, true);
  return out;
}

}  // namespace

Answer<RunResult> run_function(Session& session, std::string_view name, std::string payload,
                               std::string_view qualifier) {
  const auto response =
      TRY(session.service.ask_lambda("POST",
                                     function_path(name, qualified("/invocations", qualifier)),
                                     std::move(payload),
                                     {{"X-Amz-Log-Type", "Tail"}}));
  return RunResult{
      .failed = !response.header("X-Amz-Function-Error").empty(),
      .payload = response.body,
      .log = base64_decode(response.header("X-Amz-Log-Result")).value_or(std::string())};
}

Answer<Reply<documents::FunctionConfiguration>> describe_function(Session& session,
                                                                  std::string_view name,
                                                                  std::string_view qualifier) {
  return session.service.lambda<documents::FunctionConfiguration>(
      "GET", function_path(name, qualified("/configuration", qualifier)));
}

Answer<std::string> qualifier_of(Session& session, std::string_view name,
                                 std::string_view version) {
  if (version.empty()) return std::string();
  const bool digits = version.find_first_not_of("0123456789abcdef") == version.npos;
  if (version.starts_with('@') || !digits) return std::string(version);
  const auto published = describe_function(session, name, version);
  if (published || published.error().code != kNoSuchResource) return std::string(version);
  return "@" + std::string(version);
}

}  // namespace redrive::cli
