#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redrive::wire {

namespace detail {

// A literal's size is known from its type, which avoids a strlen that would cost more than the
// copy.
template <std::size_t N>
constexpr std::string_view piece(const char (&literal)[N]) {
  return {literal, N - 1};
}
constexpr std::string_view piece(const std::string_view& text) {
  return text;
}

}  // namespace detail

// Appends several texts with one resize; encoders append many small pieces.
template <class... Parts>
void append_parts(std::string& out, const Parts&... parts) {
  const std::size_t old_size = out.size();
  const std::size_t new_size = (old_size + ... + detail::piece(parts).size());
  out.resize_and_overwrite(new_size, [&](char* bytes, std::size_t) {
    char* at = bytes + old_size;
    const auto put = [&](std::string_view part) { at += part.copy(at, part.size()); };
    (put(detail::piece(parts)), ...);
    return new_size;
  });
}

}  // namespace redrive::wire
