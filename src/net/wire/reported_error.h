#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>
#include <vector>

namespace redrive::wire {

// Maximum number of causes kept; of a longer chain the first and the last ones.
inline constexpr std::size_t kCausesMax = 5;

// One error of a chain of causes.
struct ErrorLink {
  std::string type;
  std::string message;
  std::string stack;  // Lines, without a trailing line break.
};

// An error as a handler, a runtime or a logger reported it.
struct ReportedError {
  std::string type;
  std::string message;
  // The error's own stack, then for each cause, outermost first, a line "Caused by: TYPE: MESSAGE"
  // and the cause's frames.
  std::string stack;

  bool empty() const { return type.empty() && message.empty() && stack.empty(); }
  friend bool operator==(const ReportedError&, const ReportedError&) = default;
};

// Joins a chain of errors, outermost first.
ReportedError join_causes(std::vector<ErrorLink> chain);

// Which member names count as fields of an error.
enum class ErrorFields {
  document,  // errorType, errorMessage, stackTrace and similar, unambiguous names only.
  object,    // Also name, type, message: the object describes only an error.
};

// Reads an error from a JSON object: its type, message, stack (a text, a list of lines, or a list
// of frames) and its `cause`, to any depth. Fields of unexpected types are ignored. Empty if the
// object does not describe an error.
ReportedError read_error(simdjson::dom::element document, ErrorFields fields);

// Reads a stack trace as printed by Python, Node.js, Java and C#, including the header line.
// Python's source markers (^^^^) are dropped.
ReportedError read_trace(std::string_view text);

// Splits "KeyError: 'x'", "acme.OrderError: bad" or "KeyError('x')"; the type is empty if the text
// does not start with an error's name.
struct ErrorHeader {
  std::string_view type;
  std::string_view message;
};
ErrorHeader split_header(std::string_view text);

}  // namespace redrive::wire
