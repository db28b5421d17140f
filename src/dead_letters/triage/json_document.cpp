#include "dead_letters/triage/json_document.h"

namespace redrive::triage {
namespace {

// Rules out most plain text by its first byte.
bool may_be_json(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  return std::string_view("{[\"tfn-0123456789").find(text[begin]) != std::string_view::npos;
}

simdjson::dom::parser& parser_of_thread() {
  thread_local simdjson::dom::parser parser;
  return parser;
}

}  // namespace

JsonDocument::JsonDocument(std::string_view text) {
  if (!may_be_json(text)) return;
  if (text.size() > kSmallJsonBytes) own_ = std::make_unique<simdjson::dom::parser>();
  simdjson::dom::parser& parser = own_ ? *own_ : parser_of_thread();
  is_json_ = parser.parse(text.data(), text.size()).get(root_) == simdjson::SUCCESS;
}

}  // namespace redrive::triage
