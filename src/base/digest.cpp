#include "base/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <bit>
#include <cassert>
#include <cstring>
#include <memory>

#include "base/text.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace redrive {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Fetching an algorithm takes OpenSSL 3 longer than hashing a kilobyte, so it is done once.
class Digest {
 public:
  explicit Digest(const char* name) : algorithm_(EVP_MD_fetch(nullptr, name, nullptr)) {
    assert(algorithm_ != nullptr);
  }

  void operator()(std::string_view bytes, std::uint8_t* out) const {
    thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
    EVP_DigestInit_ex(context.get(), algorithm_, nullptr);
    EVP_DigestUpdate(context.get(), bytes.data(), bytes.size());
    EVP_DigestFinal_ex(context.get(), out, nullptr);
  }

  const EVP_MD* algorithm() const { return algorithm_; }

 private:
  EVP_MD* algorithm_;
};

const Digest& md5_digest() {
  static const Digest digest("MD5");
  return digest;
}

const Digest& sha256_digest() {
  static const Digest digest("SHA256");
  return digest;
}

constexpr auto kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78u : 0u);
    table[i] = value;
  }
  return table;
}();

std::uint32_t crc_portable(std::string_view bytes, std::uint32_t crc) {
  for (const char c : bytes)
    crc = kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc_hardware(std::string_view bytes,
                                                             std::uint32_t crc) {
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t wide = crc;
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  auto narrow = static_cast<std::uint32_t>(wide);
  for (; left > 0; --left) narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(*at++));
  return narrow;
}
#endif

}  // namespace

Md5 md5(std::string_view bytes) {
  Md5 out;
  md5_digest()(bytes, out.data());
  return out;
}

void md5_many(std::span<const std::string_view> texts, std::span<Md5> out) {
  assert(texts.size() == out.size());
  for (std::size_t i = 0; i < texts.size(); ++i) out[i] = md5(texts[i]);
}

Sha256 sha256(std::string_view bytes) {
  Sha256 out;
  sha256_digest()(bytes, out.data());
  return out;
}

Sha256 hmac_sha256(std::string_view key, std::string_view bytes) {
  Sha256 out;
  unsigned size = 0;
  HMAC(sha256_digest().algorithm(),
       key.data(),
       static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()),
       bytes.size(),
       out.data(),
       &size);
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  const Sha256 sum = sha256(bytes);
  std::string out(64, '\0');
  write_hex(out.data(), sum.data(), sum.size());
  return out;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed) {
#if defined(__x86_64__)
  static const bool hardware = __builtin_cpu_supports("sse4.2");
  if (hardware) return ~crc_hardware(bytes, ~seed);
#endif
  return ~crc_portable(bytes, ~seed);
}

std::uint64_t siphash(std::span<const std::uint8_t, 16> key, std::string_view bytes) {
  std::uint64_t k0;
  std::uint64_t k1;
  std::memcpy(&k0, key.data(), 8);
  std::memcpy(&k1, key.data() + 8, 8);
  std::uint64_t v0 = 0x736f6d6570736575 ^ k0;
  std::uint64_t v1 = 0x646f72616e646f6d ^ k1;
  std::uint64_t v2 = 0x6c7967656e657261 ^ k0;
  std::uint64_t v3 = 0x7465646279746573 ^ k1;
  const auto round = [&] {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  };
  const auto absorb = [&](std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    absorb(word);
  }
  std::uint64_t last = static_cast<std::uint64_t>(bytes.size()) << 56;
  std::memcpy(&last, bytes.data() + at, bytes.size() - at);
  absorb(last);
  v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace redrive
