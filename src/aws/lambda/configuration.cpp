#include "aws/lambda/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/calendar.h"
#include "base/result.h"
#include "core/queue/consumer_name.h"
#include "functions/runtime/interpreters.h"

namespace redrive::lambda {
namespace {

constexpr std::int64_t kTimeoutMax = 900;
constexpr std::int64_t kMemoryMin = 128;
constexpr std::int64_t kMemoryMax = 10'240;
constexpr std::int64_t kStorageMin = 512;
constexpr std::int64_t kStorageMax = 10'240;
constexpr std::size_t kDescriptionMax = 256;
constexpr std::size_t kHandlerMax = 128;
constexpr std::size_t kEnvironmentBytesMax = 4096;
constexpr std::size_t kCommandMax = 100;

// Variables that Lambda sets.
constexpr std::array<std::string_view, 22> kReserved = {"_HANDLER",
                                                        "_X_AMZN_TRACE_ID",
                                                        "AWS_DEFAULT_REGION",
                                                        "AWS_REGION",
                                                        "AWS_EXECUTION_ENV",
                                                        "AWS_LAMBDA_FUNCTION_NAME",
                                                        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
                                                        "AWS_LAMBDA_FUNCTION_VERSION",
                                                        "AWS_LAMBDA_INITIALIZATION_TYPE",
                                                        "AWS_LAMBDA_LOG_GROUP_NAME",
                                                        "AWS_LAMBDA_LOG_STREAM_NAME",
                                                        "AWS_ACCESS_KEY",
                                                        "AWS_ACCESS_KEY_ID",
                                                        "AWS_SECRET_ACCESS_KEY",
                                                        "AWS_SESSION_TOKEN",
                                                        "AWS_LAMBDA_RUNTIME_API",
                                                        "LAMBDA_TASK_ROOT",
                                                        "LAMBDA_RUNTIME_DIR",
                                                        "AWS_LAMBDA_LOG_FORMAT",
                                                        "AWS_LAMBDA_LOG_LEVEL",
                                                        "AWS_LAMBDA_METADATA_API",
                                                        "AWS_LAMBDA_METADATA_TOKEN"};

constexpr std::array<std::string_view, 3> kRuntimePrefixes = {"python3.", "nodejs", "provided"};

bool is_known_runtime(std::string_view runtime) {
  return runtime == "command" || runtime == "http" ||
         std::ranges::any_of(kRuntimePrefixes,
                             [&](std::string_view prefix) { return runtime.starts_with(prefix); });
}

Outcome<void> check_range(std::optional<std::int64_t> value, std::string_view where,
                          std::int64_t min, std::int64_t max) {
  if (!value) return {};
  const std::string text = std::to_string(*value);
  if (*value < min) {
    return breaks_constraint(
        text, where, fmt::format("have value greater than or equal to {}", min));
  }
  if (*value > max) {
    return breaks_constraint(text, where, fmt::format("have value less than or equal to {}", max));
  }
  return {};
}

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

Outcome<void> apply_environment(const documents::TextMap& variables,
                                functions::Function& function) {
  std::size_t bytes = 0;
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : variables) {
    if (std::ranges::find(kReserved, name) != kReserved.end()) {
      return invalid(fmt::format(
          "Lambda was unable to configure your environment variables because the environment "
          "variables you have provided contains reserved keys that are currently not supported for "
          "modification. Reserved keys used in this request: {}",
          name));
    }
    if (!is_variable_name(name)) {
      return breaks_constraint(name,
                               "environment.variables",
                               "satisfy regular expression pattern: [a-zA-Z]([a-zA-Z0-9_])+");
    }
    if (value.find('\0') != value.npos) {
      return invalid("Environment variables cannot contain a zero byte.");
    }
    bytes += name.size() + value.size();
    environment.emplace(name, value);
  }
  if (bytes > kEnvironmentBytesMax) {
    return invalid(
        "Lambda was unable to configure your environment variables because the environment "
        "variables you have provided exceeded the 4KB limit.");
  }
  function.environment = std::move(environment);
  return {};
}

Outcome<void> check_enum(std::optional<std::string_view> value, std::string_view where,
                         std::span<const std::string_view> allowed) {
  if (!value || std::ranges::find(allowed, *value) != allowed.end()) return {};
  return breaks_constraint(
      *value, where, fmt::format("satisfy enum value set: [{}]", fmt::join(allowed, ", ")));
}

// Stored and returned. Functions here log text to their own log whatever this says.
Outcome<void> apply_logging(const documents::LoggingConfig& logging,
                            functions::Function& function) {
  static constexpr std::array<std::string_view, 2> kFormats = {"JSON", "Text"};
  static constexpr std::array<std::string_view, 6> kLevels = {
      "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"};
  static constexpr std::array<std::string_view, 3> kSystemLevels = {"DEBUG", "INFO", "WARN"};
  RETURN_IF_ERROR(check_enum(logging.log_format, "loggingConfig.logFormat", kFormats));
  RETURN_IF_ERROR(
      check_enum(logging.application_log_level, "loggingConfig.applicationLogLevel", kLevels));
  RETURN_IF_ERROR(
      check_enum(logging.system_log_level, "loggingConfig.systemLogLevel", kSystemLevels));
  const std::string_view format = logging.log_format.value_or(function.log_format);
  const bool has_levels = logging.application_log_level || logging.system_log_level;
  if (format != "JSON" && has_levels) {
    return invalid("ApplicationLogLevel and SystemLogLevel require the LogFormat JSON.");
  }
  function.log_format = format;
  function.application_log_level = logging.application_log_level.value_or("");
  function.system_log_level = logging.system_log_level.value_or("");
  if (logging.log_group) function.log_group = *logging.log_group;
  return {};
}

// Settings that are stored and returned without effect.
Outcome<void> apply_trimmings(const documents::FunctionSettings& settings,
                              functions::Function& function) {
  if (settings.ephemeral_storage) {
    RETURN_IF_ERROR(check_range(
        settings.ephemeral_storage->size, "ephemeralStorage.size", kStorageMin, kStorageMax));
    function.storage_mb = static_cast<unsigned>(settings.ephemeral_storage->size);
  }
  if (settings.tracing_config && !settings.tracing_config->mode.empty()) {
    function.tracing = settings.tracing_config->mode;
  }
  if (!settings.architectures.empty()) function.architecture = settings.architectures.front();
  if (settings.logging_config) RETURN_IF_ERROR(apply_logging(*settings.logging_config, function));
  if (settings.kms_key_arn) function.kms_key_arn = *settings.kms_key_arn;
  if (settings.runtime_version_config) {
    function.runtime_version_arn =
        settings.runtime_version_config->runtime_version_arn.value_or("");
  }
  return {};
}

// Unsupported settings are refused.
Outcome<void> check_supported(const documents::FunctionSettings& settings) {
  if (settings.package_type.value_or("Zip") != "Zip") {
    return invalid("Container images are not supported by this server: use a zip.");
  }
  if (!settings.layers.empty()) {
    return invalid(
        "Layers are not supported by this server: add their contents to the function's zip.");
  }
  if (settings.vpc_config && !(settings.vpc_config->subnet_ids.empty() &&
                               settings.vpc_config->security_group_ids.empty())) {
    return invalid(
        "VpcConfig is not supported by this server: functions use the server's network.");
  }
  if (settings.snap_start && settings.snap_start->apply_on != "None" &&
      !settings.snap_start->apply_on.empty()) {
    return invalid("SnapStart is not supported by this server: use ApplyOn None.");
  }
  return {};
}

Outcome<void> apply_texts(const documents::FunctionSettings& settings,
                          functions::Function& function) {
  if (settings.description) function.description = *settings.description;
  if (settings.runtime) function.runtime = *settings.runtime;
  if (settings.handler) function.handler = *settings.handler;
  if (settings.role) function.role = *settings.role;
  if (settings.url) function.url = *settings.url;
  if (!settings.command.empty()) {
    function.command.assign(settings.command.begin(), settings.command.end());
  }
  if (settings.dead_letter_config) {
    function.dead_letter_arn = settings.dead_letter_config->target_arn.value_or("");
  }
  return {};
}

std::optional<std::string_view> if_set(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

documents::LoggingConfig describe_logging(Call& call, const functions::Function& function) {
  return {.log_format = function.log_format,
          .application_log_level = if_set(function.application_log_level),
          .system_log_level = if_set(function.system_log_level),
          .log_group = function.log_group.empty() ? call.keep("/aws/lambda/" + function.id.name)
                                                  : function.log_group};
}

}  // namespace

std::string lambda_time(Timestamp time) {
  std::string text = format_utc(time);
  text.pop_back();
  return text + "+0000";
}

documents::FunctionConfiguration describe(Call& call, const functions::Function& function) {
  documents::FunctionConfiguration out{
      .function_name = function.id.name,
      .function_arn = call.keep(arn_of_version(function)),
      .runtime = function.runtime,
      .role = function.role,
      .handler = function.handler,
      .code_size = static_cast<std::int64_t>(function.code_size),
      .code_sha256 = function.code_sha256,
      .description = function.description,
      .timeout = function.timeout.count(),
      .memory_size = function.memory_mb,
      .last_modified = call.keep(lambda_time(function.modified_wall)),
      .version = call.keep(version_name(function)),
      .package_type = "Zip",
      .architectures = {function.architecture},
      .ephemeral_storage = {function.storage_mb},
      .tracing_config = {function.tracing},
      .snap_start = {"None", "Off"},
      .revision_id = function.revision,
      .state = "Active",
      .last_update_status = "Successful",
      .command = {function.command.begin(), function.command.end()},
      .url = function.url,
      .directory = function.directory};
  if (!function.environment.empty()) {
    out.environment.emplace().variables.assign(function.environment.begin(),
                                               function.environment.end());
    // All variables are sensitive, whatever their names.
    if (front::is_always_masked(call.caller)) {
      for (auto& [name, value] : out.environment->variables) value = triage::kMask;
    }
  }
  for (const functions::CodeRecord& code : function.code_history) {
    out.kept_code.push_back({.version = call.keep(queue::code_digits(code.sha256)),
                             .code_sha256 = call.keep(code.sha256),
                             .code_size = static_cast<std::int64_t>(code.size),
                             .deployed_at = call.keep(lambda_time(code.deployed_wall))});
  }
  const std::string warning = runtime::interpreter_warning(
      function.runtime, runtime::interpreter_for(function.runtime).version);
  if (!warning.empty()) out.state_reason = call.keep(warning);
  if (!function.dead_letter_arn.empty()) out.dead_letter_config = {function.dead_letter_arn};
  out.logging_config = describe_logging(call, function);
  out.kms_key_arn = if_set(function.kms_key_arn);
  if (!function.runtime_version_arn.empty()) {
    out.runtime_version_config = {function.runtime_version_arn};
  }
  return out;
}

Outcome<void> apply_settings(const documents::FunctionSettings& settings,
                             functions::Function& function) {
  RETURN_IF_ERROR(check_supported(settings));
  RETURN_IF_ERROR(check_range(settings.timeout, "timeout", 1, kTimeoutMax));
  RETURN_IF_ERROR(check_range(settings.memory_size, "memorySize", kMemoryMin, kMemoryMax));
  if (settings.timeout) function.timeout = std::chrono::seconds(*settings.timeout);
  if (settings.memory_size) function.memory_mb = static_cast<unsigned>(*settings.memory_size);
  RETURN_IF_ERROR(apply_texts(settings, function));
  RETURN_IF_ERROR(apply_trimmings(settings, function));
  if (settings.environment)
    RETURN_IF_ERROR(apply_environment(settings.environment->variables, function));
  return check_function(function);
}

Outcome<void> check_function(const functions::Function& function) {
  if (!is_known_runtime(function.runtime)) {
    return invalid(
        fmt::format("Value {} at 'runtime' is not supported by this server: use python3.x, "
                    "nodejsNN.x, provided.*, command or http",
                    function.runtime));
  }
  if (function.description.size() > kDescriptionMax) {
    return breaks_constraint(function.description, "description", "have length at most 256");
  }
  if (function.handler.size() > kHandlerMax) {
    return breaks_constraint(function.handler, "handler", "have length at most 128");
  }
  const bool own = function.runtime == "command" || function.runtime == "http";
  if (!own && function.handler.empty() && !function.runtime.starts_with("provided")) {
    return invalid(
        "Runtime and Handler are mandatory parameters for functions created with "
        "deployment packages.");
  }
  if (function.runtime == "command" &&
      (function.command.empty() || function.command.size() > kCommandMax)) {
    return invalid("The runtime `command` requires a Command: a list of words.");
  }
  const bool is_url = function.url.starts_with("http://") || function.url.starts_with("https://");
  if (function.runtime == "http" && !is_url) {
    return invalid("The runtime `http` requires a Url that begins with http:// or https://.");
  }
  return {};
}

}  // namespace redrive::lambda
