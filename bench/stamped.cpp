#include "bench/stamped.h"

#include <fmt/format.h>

#include <cassert>

#include "base/text.h"

namespace redrive::bench {
namespace {

constexpr std::string_view kPlace = "@@@@@@@@@@@@@@@@@@@@";
static_assert(kPlace.size() == kStampDigits);

// Contains no digits, so that the timestamp's end can be found, and nothing that JSON would escape.
constexpr std::string_view kFiller = "the quick brown fox jumps over the lazy dog; ";

}  // namespace

std::optional<Nanos> stamp_of(std::string_view body) {
  if (body.size() < kStampDigits) return std::nullopt;
  const auto count = parse_int<std::int64_t>(body.substr(0, kStampDigits));
  return count ? std::optional(Nanos(*count)) : std::nullopt;
}

std::string body_text(std::size_t size) {
  assert(size >= kStampDigits);
  std::string text(kPlace);
  while (text.size() < size) text += kFiller;
  text.resize(size);
  return text;
}

Stamped::Stamped(std::string bytes) : bytes_(std::move(bytes)) {
  for (std::size_t at = bytes_.find(kPlace); at != std::string::npos;) {
    places_.push_back(at);
    at = bytes_.find(kPlace, at + kPlace.size());
  }
  assert(!places_.empty());
}

void Stamped::append_to(std::string& out, Nanos sent) const {
  const std::size_t begin = out.size();
  out += bytes_;
  const std::string stamp = fmt::format("{:020}", sent.count());
  for (const std::size_t at : places_) stamp.copy(out.data() + begin + at, kStampDigits);
}

}  // namespace redrive::bench
