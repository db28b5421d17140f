#include "objects/names.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"

namespace redrive::objects {
namespace {

constexpr std::string_view kObjectEnd = ".object";
// Not a valid escape, so it cannot collide with another key's file.
constexpr std::string_view kDigestBegin = "%sha256-";
constexpr std::size_t kFileNameBytesMax = 240;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_bucket_name(std::string_view name) {
  if (name.size() < 3 || name.size() > 63) return false;
  if (!is_letter_or_digit(name.front()) || !is_letter_or_digit(name.back())) return false;
  if (name.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(name,
                             [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-'; });
}

std::string file_name_of(std::string_view key) {
  std::string name = percent_encode(key, false);
  if (name.size() > kFileNameBytesMax) name = std::string(kDigestBegin) + sha256_hex(key);
  return name.append(kObjectEnd);
}

std::optional<FileKey> key_of_file(std::string_view file_name) {
  if (!file_name.ends_with(kObjectEnd)) return std::nullopt;
  file_name.remove_suffix(kObjectEnd.size());
  if (file_name.starts_with(kDigestBegin)) return FileKey{std::nullopt};
  return FileKey{percent_decode(file_name, false)};
}

}  // namespace redrive::objects
