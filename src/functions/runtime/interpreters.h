#pragma once

#include <string>
#include <string_view>

namespace redrive::runtime {

// The interpreter for a runtime such as python3.11 on this machine.
struct Interpreter {
  std::string program;  // Empty: not installed.
  std::string version;  // python3.11.2, nodejs18.19.0; empty: unknown.
};

// The newest Node.js, and the requested Python version or else python3, as chosen by Host. Runs the
// program once per runtime to get its version and caches the result, so the first call may take as
// long as an interpreter needs to start. Thread-safe.
Interpreter interpreter_for(const std::string& runtime);

// Parses the output of --version: python3.11.2, nodejs18.19.0; empty if it cannot be parsed. Pure.
std::string version_in(std::string_view answer);

// A warning for a function whose runtime differs from the installed version; empty if they match,
// or if the version is unknown. Pure.
std::string interpreter_warning(std::string_view runtime, std::string_view version);

}  // namespace redrive::runtime
