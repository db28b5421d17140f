#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace redrive {

using Md5 = std::array<std::uint8_t, 16>;
using Sha256 = std::array<std::uint8_t, 32>;

Md5 md5(std::string_view bytes);
// One digest for each text; `out` has as many places as `texts`.
void md5_many(std::span<const std::string_view> texts, std::span<Md5> out);
Sha256 sha256(std::string_view bytes);
Sha256 hmac_sha256(std::string_view key, std::string_view bytes);

// A key that authenticates many texts: its two blocks, which are half the work of a short HMAC, are
// hashed once.
class HmacSha256Key {
 public:
  explicit HmacSha256Key(std::string_view key);
  Sha256 sum(std::string_view bytes) const;

 private:
  using HashState = std::array<std::uint32_t, 8>;
  HashState inner_;
  HashState outer_;
};

std::string sha256_hex(std::string_view bytes);

// Castagnoli, as the journal uses it. `seed` continues an earlier sum: crc32c(b, crc32c(a)) is that
// of ab.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0);
// From sums alone: that of a followed by b is crc32c_join(crc32c(a), crc32c(b), size of b), and
// crc32c_first gives that of a back. Time grows with the size.
std::uint32_t crc32c_join(std::uint32_t first, std::uint32_t second, std::size_t second_size);
std::uint32_t crc32c_first(std::uint32_t joined, std::uint32_t second, std::size_t second_size);

// SipHash-2-4: a keyed 64-bit checksum, for receipt handles and hash tables that strangers feed.
std::uint64_t siphash(std::span<const std::uint8_t, 16> key, std::string_view bytes);

}  // namespace redrive
