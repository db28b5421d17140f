#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>
#include <vector>

namespace redrive::wire {

// Causes of an error that are kept: of a longer chain the first and the last ones.
inline constexpr std::size_t kCausesMax = 5;

// One error of a chain of causes.
struct ErrorLink {
  std::string type;
  std::string message;
  std::string stack;  // Lines without a line break at the end.
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

// Joins a chain, outermost error first.
ReportedError join_causes(std::vector<ErrorLink> chain);

// Which names count as the fields of an error.
enum class ErrorFields {
  document,  // errorType, errorMessage, stackTrace and their like: nothing else has these names.
  object,    // Also name, type, message: the object describes an error and nothing else.
};

// Reads an error from a JSON object: its type, message and stack (a text, a list of lines, or a
// list of frames) and its `cause`, to any depth. Fields of unexpected types are ignored. Empty if
// the object describes no error.
ReportedError read_error(simdjson::dom::element document, ErrorFields fields);

// Reads the text of a stack trace as Python, Node.js, Java and C# print it, the header line
// included, into the same form. Python's text gives frames without source markers (^^^^).
ReportedError read_trace(std::string_view text);

// "KeyError: 'x'", "acme.OrderError: bad" or "KeyError('x')" in its two parts; the type is empty
// if the text does not begin with the name of an error.
struct ErrorHeader {
  std::string_view type;
  std::string_view message;
};
ErrorHeader split_header(std::string_view text);

}  // namespace redrive::wire
