#pragma once

#include <optional>
#include <string_view>

#include "dead_letters/triage/stack_trace.h"

// Parsers for one line of a stack trace, per language.

namespace redrive::triage {

// File "/var/task/index.py", line 111, in handler
std::optional<Frame> python_frame(std::string_view line);
// The part after "at " in a line of Node, Java or C#, which are distinguished by their syntax.
std::optional<Frame> at_frame(std::string_view line);
// Go prints two lines: main.(*Worker).Process(0xc000010000) and /src/worker.go:42 +0x1d.
std::optional<Frame> go_frame(std::string_view function_line, std::string_view file_line);

// The part of a path that is the same on every machine: what follows the last directory that looks
// like a source root, else the file name; hashes in the name are dropped.
std::string portable_path(std::string_view path);

}  // namespace redrive::triage
