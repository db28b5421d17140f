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
// One digest per text; `out` must have the size of `texts`.
void md5_many(std::span<const std::string_view> texts, std::span<Md5> out);
Sha256 sha256(std::string_view bytes);
Sha256 hmac_sha256(std::string_view key, std::string_view bytes);

// An HMAC key that is used for many texts: the hashes of its two padded blocks, half the work of a
// short HMAC, are precomputed.
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

// CRC-32C (Castagnoli), used by the journal. `seed` continues an earlier checksum: crc32c(b,
// crc32c(a)) is the checksum of ab.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0);
// Combines checksums without the data: crc32c_join(crc32c(a), crc32c(b), size of b) is the checksum
// of ab, and crc32c_first recovers that of a. Time is linear in the size.
std::uint32_t crc32c_join(std::uint32_t first, std::uint32_t second, std::size_t second_size);
std::uint32_t crc32c_first(std::uint32_t joined, std::uint32_t second, std::size_t second_size);

// SipHash-2-4: a keyed 64-bit hash, for receipt handles and for hash tables with untrusted keys.
std::uint64_t siphash(std::span<const std::uint8_t, 16> key, std::string_view bytes);

}  // namespace redrive
