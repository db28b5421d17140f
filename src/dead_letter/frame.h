#pragma once

#include <optional>
#include <string_view>

#include "dead_letter/stack_trace.h"

// One line of a trace, in each of the languages.

namespace redrive::dead_letter {

// File "/var/task/index.py", line 111, in handler
std::optional<Frame> python_frame(std::string_view line);
// What follows "at " in a line of Node, Java or C#; their forms tell them apart.
std::optional<Frame> at_frame(std::string_view line);
// Go prints two lines: main.(*Worker).Process(0xc000010000) and /src/worker.go:42 +0x1d.
std::optional<Frame> go_frame(std::string_view function_line, std::string_view file_line);

// What is left of a path on every machine that runs the program: what follows the last directory
// that is named like the root of sources, else the file's name; digests in the name are dropped.
std::string portable_path(std::string_view path);

}  // namespace redrive::dead_letter
