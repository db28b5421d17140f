#include "functions/runtime/launch.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/ids.h"
#include "base/text.h"

namespace redrive::runtime {
namespace {

namespace fs = std::filesystem;

// Hard limit beyond the function's memory, for processes that grow between two checks. Interpreters
// reserve memory that they never touch, Node.js the most.
constexpr std::size_t kDataReserveMb = 512;
constexpr std::size_t kDataReserveNodeMb = 1024;
constexpr std::size_t kFileMb = 512;
constexpr std::size_t kProcessesOfUserMax = 1024;
constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin";

// Directory paths as the process sees them.
struct View {
  std::string task;
  std::string runtime;
  std::string tmp;
};

bool is_below(const fs::path& path, const fs::path& directory) {
  const auto [end, ignored] =
      std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return end == directory.end();
}

// Whether the process has its own /tmp without a sandbox.
bool covers_tmp(const Host& host) {
  return host.can_mount() && !is_below(host.options().scratch, "/tmp");
}

View view_of(const Host& host, const FunctionSpec& function, const Place& place) {
  const bool has_code = !function.code.empty();
  if (host.has_bubblewrap()) {
    return {.task = has_code ? "/var/task" : "/tmp", .runtime = "/var/runtime", .tmp = "/tmp"};
  }
  View view{.runtime = host.runtime_directory(), .tmp = place.tmp()};
  if (covers_tmp(host)) view.tmp = "/tmp";
  view.task = has_code ? host.code_path(function.code, place) : fs::path(view.tmp);
  return view;
}

std::vector<SpawnRequest::Mount> mounts_of(const Host& host, const FunctionSpec& function,
                                           const Place& place) {
  if (!host.can_mount()) return {};
  std::vector<SpawnRequest::Mount> mounts;
  if (!function.code.empty())
    mounts.push_back({.source = fs::absolute(function.code), .target = place.task()});
  if (host.has_bubblewrap()) return mounts;  // It hides everything else by not mounting it.
  if (covers_tmp(host)) {
    mounts.push_back({.source = place.tmp(), .target = "/tmp", .writable = true});
  }
  for (const fs::path& hidden : host.options().hidden) {
    std::error_code ignored;
    const bool possible = fs::is_directory(hidden, ignored) && !is_below(place.directory, hidden);
    if (possible) mounts.push_back({.target = fs::absolute(hidden, ignored)});
  }
  return mounts;
}

std::string log_stream_name(const std::string& version) {
  RandomIds ids;
  const auto today = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format(
      "{:%Y/%m/%d}/[{}]{:016x}{:016x}", fmt::gmtime(today), version, ids.bits(), ids.bits());
}

std::vector<std::string> environment_of(const FunctionSpec& function, const View& view,
                                        const ApiWays& api) {
  std::map<std::string, std::string> all = {{"PATH", kPath},
                                            {"LANG", "C.UTF-8"},
                                            {"TZ", ":UTC"},
                                            {"HOME", view.tmp},
                                            {"TMPDIR", view.tmp},
                                            {"AWS_REGION", function.region},
                                            {"AWS_DEFAULT_REGION", function.region}};
  for (const auto& [name, value] : function.environment) all[name] = value;
  all["_HANDLER"] = function.handler;
  all["LAMBDA_TASK_ROOT"] = view.task;
  all["LAMBDA_RUNTIME_DIR"] = view.runtime;
  if (api.port != 0) all["AWS_LAMBDA_RUNTIME_API"] = fmt::format("127.0.0.1:{}", api.port);
  if (api.link_input >= 0) all["REDRIVE_RUNTIME_LINK"] = "3,4," + function.arn;
  all["AWS_LAMBDA_FUNCTION_NAME"] = function.name;
  all["AWS_LAMBDA_FUNCTION_VERSION"] = function.version;
  all["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] = fmt::to_string(function.memory_mb);
  all["AWS_LAMBDA_LOG_GROUP_NAME"] = "/aws/lambda/" + function.name;
  all["AWS_LAMBDA_LOG_STREAM_NAME"] = log_stream_name(function.version);
  all["AWS_LAMBDA_INITIALIZATION_TYPE"] = "on-demand";
  all.emplace("AWS_LAMBDA_LOG_FORMAT", "Text");
  if (knows_link(function)) all["AWS_EXECUTION_ENV"] = "AWS_Lambda_" + function.runtime;
  std::vector<std::string> result;
  for (const auto& [name, value] : all) {
    // A null byte would truncate the value.
    if (value.find('\0') == std::string::npos) result.push_back(name + "=" + value);
  }
  return result;
}

std::unexpected<Error> no_bootstrap() {
  return fail(ErrorCode::resource_not_found,
              "Couldn't find valid bootstrap(s): [/var/task/bootstrap /opt/bootstrap]");
}

Result<std::vector<std::string>> interpreter_words(Host& host, const FunctionSpec& function,
                                                   const View& view) {
  const std::string program = host.interpreter(function.runtime);
  if (program.empty()) {
    return fail(
        ErrorCode::unsupported_operation,
        fmt::format("No interpreter for {} is installed on this machine.", function.runtime));
  }
  if (function.runtime.starts_with("python")) return {{program, view.runtime + "/bootstrap.py"}};
  // Keeps V8's heap within the function's memory rather than the machine's.
  const unsigned heap_mb = std::max(64u, function.memory_mb * 3 / 4);
  return {
      {program, fmt::format("--max-old-space-size={}", heap_mb), view.runtime + "/bootstrap.mjs"}};
}

// Like a shell, except that a relative path is resolved in the function's directory.
std::string find_command(const FunctionSpec& function, const View& view) {
  const std::string& name = function.command.front();
  if (name.starts_with('/')) return name;
  if (name.find('/') != std::string::npos) return view.task + "/" + name;
  const auto path = function.environment.find("PATH");
  const std::string_view directories =
      path != function.environment.end() ? std::string_view(path->second) : kPath;
  for (const auto directory : split(directories, ':')) {
    const std::string candidate = fmt::format("{}/{}", directory, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return view.task + "/" + name;
}

Result<std::vector<std::string>> words_of(Host& host, const FunctionSpec& function,
                                          const View& view) {
  const std::string& runtime = function.runtime;
  if (runtime == "command") {
    if (function.command.empty()) {
      return fail(ErrorCode::resource_not_found, "The function has no command.");
    }
    std::vector<std::string> words = function.command;
    words.front() = find_command(function, view);
    return words;
  }
  if (knows_link(function)) {
    return interpreter_words(host, function, view);
  }
  if (::access((function.code / "bootstrap").c_str(), X_OK) == 0)
    return {{view.task + "/bootstrap"}};
  if (runtime.starts_with("provided")) return no_bootstrap();
  return fail(ErrorCode::unsupported_operation,
              fmt::format("The runtime {} is not supported on this server.", runtime));
}

// Mounts the installation directory of an interpreter outside the system directories (the parent of
// its bin).
void show_interpreter(std::vector<std::string>& arguments, const std::string& program) {
  std::error_code ignored;
  for (const fs::path& path : {fs::path(program), fs::canonical(program, ignored)}) {
    const bool shown = path.empty() || is_below(path, "/usr") || is_below(path, "/opt") ||
                       is_below(path, "/bin") || is_below(path, "/var/task");
    if (shown || path.parent_path().parent_path() == "/") continue;
    const std::string home = path.parent_path().parent_path();
    arguments.insert(arguments.end(), {"--ro-bind-try", home, home});
  }
}

void wrap(const Host& host, const FunctionSpec& function, const Place& place, const View& view,
          SpawnRequest& request) {
  std::vector<std::string> arguments = sandbox_arguments(host.bubblewrap());
  show_interpreter(arguments, request.program);
  const std::string code = host.code_path(function.code, place);
  arguments.insert(arguments.end(), {"--bind", place.tmp(), "/tmp"});
  arguments.insert(arguments.end(), {"--ro-bind", host.runtime_directory(), "/var/runtime"});
  if (!function.code.empty()) arguments.insert(arguments.end(), {"--ro-bind", code, "/var/task"});
  arguments.insert(arguments.end(), {"--chdir", view.task, "--"});
  arguments.push_back(request.program);
  arguments.insert(arguments.end(), request.arguments.begin() + 1, request.arguments.end());
  request.program = host.bubblewrap();
  request.arguments = std::move(arguments);
  request.directory = "/";
}

}  // namespace

bool knows_link(const FunctionSpec& function) {
  return function.runtime.starts_with("python") || function.runtime.starts_with("node");
}

Result<SpawnRequest> plan_launch(Host& host, const FunctionSpec& function, const Place& place,
                                 const ApiWays& api) {
  std::error_code ignored;
  if (!function.code.empty() && !fs::is_directory(function.code, ignored)) {
    return fail(ErrorCode::resource_not_found,
                fmt::format("The code of {} is missing.", function.name));
  }
  RETURN_IF_ERROR(host.check_bubblewrap());
  const View view = view_of(host, function, place);
  const bool node = function.runtime.starts_with("node");
  SpawnRequest request{
      .environment = environment_of(function, view, api),
      .directory = view.task,
      .link_input = api.link_input,
      .link_output = api.link_output,
      .mounts = mounts_of(host, function, place),
      .data_bytes_max = (function.memory_mb + (node ? kDataReserveNodeMb : kDataReserveMb)) * kMiB,
      .processes_max = host.is_root() ? kProcessesOfUserMax : 0,
      .file_bytes_max = kFileMb * kMiB};
  request.arguments = TRY(words_of(host, function, view));
  request.program = request.arguments.front();
  if (host.has_bubblewrap()) wrap(host, function, place, view, request);
  return request;
}

}  // namespace redrive::runtime
