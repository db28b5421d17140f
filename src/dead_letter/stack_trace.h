#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redrive::dead_letter {

inline constexpr std::size_t kTraceBytesRead = 64 * 1024;

// A place in a program, as it stays from release to release: no line numbers, no addresses, no
// directory of the machine, no digest in the file's name.
struct Frame {
  std::string function;
  std::string file;     // Empty where the language prints none.
  bool in_app = false;  // Neither standard library, nor runtime, nor an installed package.

  friend bool operator==(const Frame&, const Frame&) = default;
};

struct StackTrace {
  // Innermost first, of the root cause if errors are chained and it went through the application;
  // a function that calls itself stands once.
  std::vector<Frame> frames;
  // The types of the chained errors, the root cause first; empty if the trace names none.
  std::vector<std::string> error_types;
  // What the trace says of the error that came out.
  std::string error_type;
  std::string error_message;
};

// Reads what Python, Node, Java, Go and C# print. Lines it does not know are passed over; a text
// that is no trace gives no frames. Reads at most kTraceBytesRead bytes.
StackTrace parse_stack_trace(std::string_view text);

}  // namespace redrive::dead_letter
