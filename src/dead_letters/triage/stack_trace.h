#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redrive::triage {

inline constexpr std::size_t kTraceBytesRead = 64 * 1024;

// A code location that is stable between releases: no line numbers, no addresses, no
// machine-specific directories, no hashes in file names.
struct Frame {
  std::string function;
  std::string file;     // Empty if the language prints none.
  bool in_app = false;  // Not in the standard library, the runtime or an installed package.

  friend bool operator==(const Frame&, const Frame&) = default;
};

struct StackTrace {
  // Innermost first, of the root cause if errors are chained and it went through the application; a
  // recursive function occurs once.
  std::vector<Frame> frames;
  // The types of the chained errors, root cause first; empty if the trace has none.
  std::vector<std::string> error_types;
  // The outermost error.
  std::string error_type;
  std::string error_message;
};

// Parses traces of Python, Node, Java, Go and C#. Unknown lines are skipped; a text that is not a
// trace has no frames. Reads at most kTraceBytesRead bytes.
StackTrace parse_stack_trace(std::string_view text);

}  // namespace redrive::triage
