#include "net/wire/reported_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.h"

namespace redrive::wire {
namespace {

using Element = simdjson::dom::element;
using Object = simdjson::dom::object;

constexpr std::size_t kTypeNameBytesMax = 128;
constexpr std::size_t kCauseLineBytesMax = 512;
constexpr std::size_t kChainDepthMax = 64;  // Levels read; kCausesMax are kept.
constexpr std::string_view kCausedBy = "Caused by: ";

std::string_view trim_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

bool is_type_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}

bool is_type_name(std::string_view text) {
  return !text.empty() && text.size() <= kTypeNameBytesMax && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, is_type_character);
}

bool is_frame(std::string_view line) {
  const std::string_view text = trim_space(line);
  return text.starts_with("at ") || text.starts_with("File \"");
}

// The line that Python prints below a source line to mark part of it.
bool is_marker_line(std::string_view line) {
  const std::string_view text = trim_space(line);
  return !text.empty() && text.find_first_not_of("^~ ") == text.npos;
}

void append_line(std::string& lines, std::string_view line) {
  if (!lines.empty() && !lines.ends_with('\n')) lines += '\n';
  lines += line;
}

std::string without_line_break(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

// --- JSON ---

std::string text_of(Element value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  if (value.is_number() || value.is_bool()) return simdjson::minify(value);
  return {};
}

std::string first_text(const Object& object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    Element value;
    if (object[name].get(value) != simdjson::SUCCESS) continue;
    if (std::string text = text_of(value); !text.empty()) return text;
  }
  return {};
}

// {"file": …, "line": …, "function": …}, formatted like Python's frames.
std::string frame_line(const Object& frame) {
  const std::string file = first_text(frame, {"file", "filename", "path"});
  const std::string line = first_text(frame, {"line", "lineno", "line_number"});
  const std::string function = first_text(frame, {"function", "name", "method"});
  if (file.empty() && function.empty()) return {};
  return fmt::format("  File \"{}\", line {}, in {}", file, line.empty() ? "0" : line, function);
}

std::string stack_lines(Element value);

std::string lines_of_list(const simdjson::dom::array& list) {
  std::string lines;
  for (const Element item : list) {
    Object frame;
    const std::string line =
        item.get(frame) == simdjson::SUCCESS ? frame_line(frame) : text_of(item);
    append_line(lines, line);
  }
  return without_line_break(std::move(lines));
}

std::string stack_lines(Element value) {
  simdjson::dom::array list;
  if (value.get(list) == simdjson::SUCCESS) return lines_of_list(list);
  Object object;
  if (value.get(object) == simdjson::SUCCESS) {
    if (object["frames"].get(list) == simdjson::SUCCESS) return lines_of_list(list);
    return {};
  }
  return without_line_break(text_of(value));
}

std::string stack_in(const Object& object) {
  for (const std::string_view name : {"stackTrace",
                                      "trace",
                                      "stack",
                                      "stack_trace",
                                      "traceback",
                                      "exception",
                                      "exc_info",
                                      "exc_text"}) {
    Element value;
    if (object[name].get(value) != simdjson::SUCCESS) continue;
    std::string lines = stack_lines(value);
    // Some loggers put a message under these names; a stack has frames.
    const bool has_frames = lines.find("at ") != lines.npos || lines.find("File \"") != lines.npos;
    const bool sure = name == "stackTrace" || name == "trace" || name == "stack";
    if (!lines.empty() && (sure || has_frames)) return lines;
  }
  return {};
}

ErrorLink link_in(const Object& object, ErrorFields fields) {
  ErrorLink link;
  link.type = first_text(object, {"errorType", "error_type", "exception_name", "exc_type"});
  link.message = first_text(object, {"errorMessage", "error_message", "exc_message"});
  link.stack = stack_in(object);
  if (fields == ErrorFields::object) {
    if (link.type.empty()) link.type = first_text(object, {"type", "name", "class", "kind"});
    if (link.message.empty()) link.message = first_text(object, {"message", "msg", "value"});
  }
  Object nested;  // Powertools' logger for Python.
  if (object["stack_trace"].get(nested) == simdjson::SUCCESS) {
    if (link.type.empty()) link.type = first_text(nested, {"type"});
    if (link.message.empty()) link.message = first_text(nested, {"value"});
  }
  return link;
}

// Appends the error, its cause, the cause's cause, and so on.
void read_chain(Element value, ErrorFields fields, std::vector<ErrorLink>& chain) {
  for (std::size_t depth = 0; depth < kChainDepthMax; ++depth) {
    Object object;
    if (value.get(object) != simdjson::SUCCESS) {
      const std::string text = text_of(value);
      const ErrorHeader header = split_header(text);
      const std::string_view message =
          header.type.empty() ? std::string_view(text) : header.message;
      if (!text.empty())
        chain.push_back({std::string(header.type), std::string(message), std::string()});
      return;
    }
    ErrorLink link = link_in(object, fields);
    if (link.type.empty() && link.message.empty() && link.stack.empty()) return;
    chain.push_back(std::move(link));
    Element cause;
    if (object["cause"].get(cause) != simdjson::SUCCESS &&
        object["Cause"].get(cause) != simdjson::SUCCESS)
      return;
    value = cause;
    fields = ErrorFields::object;
  }
}

// --- Text ---

// A stack's frames, without the header before them and what follows them.
std::string frames_only(std::string_view stack) {
  std::string frames;
  bool begun = false;
  for (const std::string_view line : split(stack, '\n')) {
    if (is_frame(line)) begun = true;
    if (!begun) continue;
    const bool indented = line.starts_with(' ') || line.starts_with('\t');
    if (!indented && !is_frame(line)) break;
    if (!is_marker_line(line)) append_line(frames, line);
  }
  return frames;
}

std::string one_line(std::string_view text) {
  std::string line(utf8_prefix(text, kCauseLineBytesMax));
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

// Keeps the outermost error and the first and last of its causes: the root cause tells most.
void shorten(std::vector<ErrorLink>& chain) {
  if (chain.size() <= 1 + kCausesMax) return;
  const auto excess = static_cast<std::ptrdiff_t>(chain.size() - 1 - kCausesMax);
  chain.erase(chain.begin() + 2, chain.begin() + 2 + excess);
}

// Fills in type and message from the stack if they are missing.
void complete(ErrorLink& link) {
  if (link.stack.empty() || (!link.type.empty() && !link.message.empty())) return;
  ReportedError named = read_trace(link.stack);
  if (named.type.empty() || (!link.type.empty() && !link.type.ends_with(named.type))) return;
  if (link.type.empty()) link.type = named.type;
  if (link.message.empty()) link.message = named.message;
  if (link.stack.find("Traceback (most recent call last)") != link.stack.npos)
    link.stack = named.stack;
}

// Parses a textual stack trace: a chain of sections.
class TraceText {
 public:
  explicit TraceText(std::string_view text) { chain_.emplace_back(), read(text); }

  std::vector<ErrorLink> take() {
    std::erase_if(chain_, [](const ErrorLink& link) {
      return link.type.empty() && link.message.empty() && link.stack.empty();
    });
    if (python_) std::ranges::reverse(chain_);  // Python prints the root cause first.
    for (ErrorLink& link : chain_) finish(link);
    return std::move(chain_);
  }

 private:
  void read(std::string_view text) {
    for (const std::string_view line : split(text, '\n')) read_line(line);
  }

  void read_line(std::string_view line) {
    std::string_view text = trim_space(line);
    if (text.empty() || is_marker_line(line)) return;
    if (text.ends_with("Traceback (most recent call last):")) {
      python_ = true;
      return;
    }
    if (text.starts_with("During handling of the above exception") ||
        text.starts_with("The above exception was the direct cause")) {
      chain_.emplace_back();
      return;
    }
    for (const std::string_view mark : {kCausedBy, std::string_view("[cause]: ")}) {
      if (!text.starts_with(mark)) continue;
      chain_.emplace_back();
      return name(text.substr(mark.size()));
    }
    if (text.starts_with("... ") && text.ends_with(" more")) return;
    if (is_frame(line)) return add_frame(line);
    const bool indented = line.starts_with(' ') || line.starts_with('\t');
    if (python_ && indented) return append_line(chain_.back().stack, line);  // A source line.
    const bool expected = python_ ? !chain_.back().stack.empty() : chain_.back().stack.empty();
    if (expected && !indented && chain_.back().type.empty()) name(text);
  }

  void add_frame(std::string_view line) {
    // Node's console appends an object's brace to the last frame.
    if (!python_ && line.ends_with(" {")) line.remove_suffix(2);
    append_line(chain_.back().stack, line);
  }

  void name(std::string_view text) {
    if (!python_ && text.ends_with(" {")) text.remove_suffix(2);
    const ErrorHeader header = split_header(text);
    chain_.back().type = header.type;
    chain_.back().message = header.type.empty() ? text : header.message;
  }

  // Python's error documents name the class without its module; Node's stacks start with the
  // header.
  void finish(ErrorLink& link) const {
    if (python_) {
      link.type.erase(0, link.type.rfind('.') + 1);
      return;
    }
    if (&link != &chain_.front()) return;
    std::string header = link.type.empty() || link.message.empty()
                             ? link.type + link.message
                             : fmt::format("{}: {}", link.type, link.message);
    if (!header.empty() && !link.stack.empty()) link.stack = header + "\n" + link.stack;
  }

  std::vector<ErrorLink> chain_;
  bool python_ = false;
};

}  // namespace

ErrorHeader split_header(std::string_view text) {
  text = trim_space(text);
  const std::size_t end = std::min(text.find_first_of(": (\n"), text.size());
  const std::string_view type = text.substr(0, end);
  if (!is_type_name(type)) return {};
  if (end == text.size()) return {.type = type, .message = {}};
  if (text[end] == ':') return {.type = type, .message = trim_space(text.substr(end + 1))};
  if (text[end] == '(' && text.ends_with(')') && end + 1 < text.size()) {
    return {.type = type, .message = text.substr(end + 1, text.size() - end - 2)};
  }
  // Node's "Error [ERR_CODE]: message" and "TypeError [ERR_X]: message".
  if (text.substr(end).starts_with(" [")) {
    const std::size_t close = text.find("]: ", end);
    if (close != text.npos) return {.type = type, .message = trim_space(text.substr(close + 3))};
  }
  return {};
}

ReportedError join_causes(std::vector<ErrorLink> chain) {
  if (chain.empty()) return {};
  shorten(chain);
  ReportedError error{.type = std::move(chain.front().type),
                      .message = std::move(chain.front().message),
                      .stack = std::move(chain.front().stack)};
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const ErrorLink& cause = chain[i];
    const bool both = !cause.type.empty() && !cause.message.empty();
    append_line(
        error.stack,
        one_line(fmt::format("{}{}{}{}", kCausedBy, cause.type, both ? ": " : "", cause.message)));
    if (const std::string frames = frames_only(cause.stack); !frames.empty())
      append_line(error.stack, frames);
  }
  return error;
}

ReportedError read_error(Element document, ErrorFields fields) {
  std::vector<ErrorLink> chain;
  if (!document.is_object()) return {};
  read_chain(document, fields, chain);
  if (chain.empty()) return {};
  if (chain.size() == 1) complete(chain.front());
  return join_causes(std::move(chain));
}

ReportedError read_trace(std::string_view text) {
  return join_causes(TraceText(text).take());
}

}  // namespace redrive::wire
