#pragma once

#include <string>
#include <string_view>

namespace redrive::runtime {

// What runs functions of a runtime such as python3.11 on this machine.
struct Interpreter {
  std::string program;  // Empty: there is none.
  std::string version;  // python3.11.2, nodejs18.19.0; empty: not known.
};

// The newest Node.js, and the Python of the version that is asked for or else python3, as Host
// chooses them. Asks the program for its version once for each runtime and remembers the answer,
// so the first call may take as long as an interpreter takes to start. Thread-safe.
Interpreter interpreter_for(const std::string& runtime);

// Of what an interpreter answers to --version: python3.11.2, nodejs18.19.0; empty when it says
// something else. Pure.
std::string version_in(std::string_view answer);

// What to tell the owner of a function whose runtime is not the version that runs it; empty when it
// is, or when the version is not known. Pure.
std::string interpreter_warning(std::string_view runtime, std::string_view version);

}  // namespace redrive::runtime
