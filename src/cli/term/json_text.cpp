#include "cli/term/json_text.h"

#include <simdjson.h>

namespace redrive::cli {
namespace {

bool is_object_or_array(std::string_view text) {
  simdjson::dom::parser parser;
  const auto document = parser.parse(text.data(), text.size());
  return document.error() == simdjson::SUCCESS && (document.is_object() || document.is_array());
}

// Indents JSON that is known to be valid.
class Indenter {
 public:
  explicit Indenter(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) step(text_[at_]);
    return std::move(out_);
  }

 private:
  void step(char c) {
    ++at_;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return;
    if (c == '"') return copy_string();
    if (c == '{' || c == '[') return open(c);
    if (c == '}' || c == ']') return close(c);
    out_ += c;
    if (c == ',') new_line();
    if (c == ':') out_ += ' ';
  }

  void copy_string() {
    const std::size_t begin = at_ - 1;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    out_ += text_.substr(begin, at_ - begin);
  }

  void open(char c) {
    out_ += c;
    ++depth_;
    const std::size_t next = text_.find_first_not_of(" \t\r\n", at_);
    empty_ = text_[next] == '}' || text_[next] == ']';
    if (!empty_) new_line();
  }

  void close(char c) {
    --depth_;
    if (!empty_) new_line();
    empty_ = false;
    out_ += c;
  }

  void new_line() { out_.append("\n").append(2 * depth_, ' '); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool empty_ = false;  // The bracket just opened is closed immediately.
  std::string out_;
};

}  // namespace

std::optional<std::string> pretty_json(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool candidate =
      begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
  if (!candidate || !is_object_or_array(text)) return std::nullopt;
  return Indenter(text).run();
}

}  // namespace redrive::cli
