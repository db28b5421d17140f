#include "functions/runtime/interpreters.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>

#include "base/text.h"
#include "functions/runtime/host.h"

namespace redrive::runtime {
namespace {

std::string in_shell_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string ask_version(const std::string& program) {
  if (program.empty()) return {};
  const std::string command = in_shell_quotes(program) + " --version 2>&1";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "re"),
                                                             ::pclose);
  std::array<char, 64> answer{};
  if (pipe == nullptr || std::fgets(answer.data(), answer.size(), pipe.get()) == nullptr) return {};
  return version_in(answer.data());
}

// `3.9` for python3.9, `18` for nodejs18.x; empty if the runtime has no version.
std::string_view wanted_version(std::string_view runtime, std::string_view family) {
  runtime.remove_prefix(family.size());
  if (runtime.ends_with(".x")) runtime.remove_suffix(2);
  return runtime;
}

std::string_view family_of(std::string_view runtime) {
  for (const std::string_view family : {"python", "nodejs"}) {
    if (runtime.starts_with(family)) return family;
  }
  return {};
}

}  // namespace

std::string version_in(std::string_view answer) {
  const std::size_t end = answer.find_first_of("\r\n");
  answer = answer.substr(0, end);
  const bool python = answer.starts_with("Python ");
  if (!python && !answer.starts_with('v')) return {};
  answer.remove_prefix(python ? 7 : 1);
  const std::size_t digits = answer.find_first_not_of("0123456789.");
  answer = answer.substr(0, digits);
  if (answer.empty()) return {};
  return fmt::format("{}{}", python ? "python" : "nodejs", answer);
}

std::string interpreter_warning(std::string_view runtime, std::string_view version) {
  const std::string_view family = family_of(runtime);
  if (family.empty() || !version.starts_with(family)) return {};
  const std::string_view wanted = wanted_version(runtime, family);
  const std::string_view runs = version.substr(family.size());
  const bool exact =
      wanted.empty() || runs == wanted || (runs.starts_with(wanted) && runs[wanted.size()] == '.');
  if (exact) return {};
  return fmt::format(
      "{0} is not installed on this server: the function runs on {1} {2}. Install {0}, or set the "
      "function's Runtime to the version that runs it.",
      runtime,
      family == "python" ? "Python" : "Node.js",
      runs);
}

Interpreter interpreter_for(const std::string& runtime) {
  static Mutex mutex;
  static std::map<std::string, Interpreter> known GUARDED_BY(mutex);
  if (family_of(runtime).empty()) return {};
  const MutexLock lock(mutex);
  const auto [entry, is_new] = known.try_emplace(runtime);
  if (is_new) {
    entry->second.program = find_interpreter(runtime, ::geteuid() == 0);
    entry->second.version = ask_version(entry->second.program);
  }
  return entry->second;
}

}  // namespace redrive::runtime
