#include "bench/json_scan.h"

#include <string.h>

namespace redrive::bench {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

std::size_t find(std::string_view text, std::string_view what) {
  const void* hit = memmem(text.data(), text.size(), what.data(), what.size());
  return hit == nullptr ? kNowhere
                        : static_cast<std::size_t>(static_cast<const char*>(hit) - text.data());
}

std::string_view skip_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == kNowhere ? std::string_view() : text.substr(first);
}

// The length of a string's contents, up to its closing quote.
std::size_t contents_size(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at;
}

}  // namespace

std::optional<std::string_view> JsonTexts::next() {
  while (true) {
    const std::size_t at = find(rest_, quoted_name_);
    if (at == kNowhere) return std::nullopt;
    rest_ = skip_space(rest_.substr(at + quoted_name_.size()));
    if (!rest_.starts_with(':')) continue;  // A value that looks like the name.
    rest_ = skip_space(rest_.substr(1));
    if (!rest_.starts_with('"')) continue;
    rest_.remove_prefix(1);
    const std::size_t size = contents_size(rest_);
    if (size >= rest_.size()) return std::nullopt;
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size + 1);
    return value;
  }
}

}  // namespace redrive::bench
