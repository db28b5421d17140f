#include "manage/id_prefix.h"

#include <fmt/format.h>

#include <algorithm>

namespace redrive::manage {
namespace {

constexpr std::size_t kCandidatesTold = 10;

char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_id_character(char c) {
  const char small = small_letter(c);
  return (small >= '0' && small <= '9') || (small >= 'a' && small <= 'f') || small == '-';
}

}  // namespace

bool is_id_prefix(std::string_view text) {
  return text.size() >= kIdPrefixBytesMin && std::ranges::all_of(text, is_id_character);
}

std::optional<Uuid> first_with_prefix(std::string_view prefix) {
  std::string text = Uuid().text();
  if (prefix.size() > text.size()) return std::nullopt;
  std::ranges::copy(prefix, text.begin());
  return Uuid::parse(text);
}

bool has_id_prefix(std::string_view id, std::string_view prefix) {
  return id.size() >= prefix.size() &&
         std::ranges::equal(id.substr(0, prefix.size()), prefix, {}, small_letter, small_letter);
}

std::unexpected<Error> ambiguous(std::string_view of_what, std::string_view prefix,
                                 std::span<const std::string> candidates) {
  const auto told = candidates.first(std::min(candidates.size(), kCandidatesTold));
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("{} is ambiguous: {}{} {} match: {}{}",
                          prefix,
                          candidates.size() > kCandidatesTold ? "at least " : "",
                          candidates.size(),
                          of_what,
                          fmt::join(told, ", "),
                          candidates.size() > kCandidatesTold ? ", ..." : ""));
}

}  // namespace redrive::manage
