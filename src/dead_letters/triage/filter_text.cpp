#include "dead_letters/triage/filter_text.h"

#include <algorithm>

#include "dead_letters/triage/characters.h"

namespace redrive::triage {

std::string filter_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string filter_path_step(std::string_view key) {
  const bool plain = !key.empty() && std::ranges::all_of(key, is_word);
  return plain ? "." + std::string(key) : "[" + filter_literal(key) + "]";
}

}  // namespace redrive::triage
