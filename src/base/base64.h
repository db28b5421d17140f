#pragma once

#include <cstdint>
#include <string_view>

namespace redrive {

inline constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Writes four characters for every three bytes. For an incomplete last group the caller writes the
// padding.
inline void base64_write(char* out, std::string_view bytes) {
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at]))
                             : 0u;
  };
  for (std::size_t at = 0; at < bytes.size(); at += 3, out += 4) {
    const std::uint32_t group = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    out[0] = kBase64[group >> 18];
    out[1] = kBase64[group >> 12 & 63];
    if (at + 1 < bytes.size()) out[2] = kBase64[group >> 6 & 63];
    if (at + 2 < bytes.size()) out[3] = kBase64[group & 63];
  }
}

}  // namespace redrive
