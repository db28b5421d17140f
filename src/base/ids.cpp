#include "base/ids.h"

#include <sys/random.h>

#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "base/text.h"

namespace redrive {

void Uuid::format(char* out) const {
  std::array<char, 2 * sizeof(bytes)> digits;
  write_hex(digits.data(), bytes.data(), bytes.size());
  std::memcpy(out, digits.data(), 8);
  std::memcpy(out + 9, digits.data() + 8, 4);
  std::memcpy(out + 14, digits.data() + 12, 4);
  std::memcpy(out + 19, digits.data() + 16, 4);
  std::memcpy(out + 24, digits.data() + 20, 12);
  for (const std::size_t dash : {8u, 13u, 18u, 23u}) out[dash] = '-';
}

std::string Uuid::text() const {
  std::string out(36, '\0');
  format(out.data());
  return out;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid id;
  std::size_t at = 0;
  for (std::size_t i = 0; i < 36;) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i++] != '-') return std::nullopt;
      continue;
    }
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    id.bytes[at++] = static_cast<std::uint8_t>(high * 16 + low);
    i += 2;
  }
  return id;
}

Uuid IdSource::uuid() {
  const std::array<std::uint64_t, 2> random = {bits(), bits()};
  Uuid id;
  std::memcpy(id.bytes.data(), random.data(), id.bytes.size());
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x40);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
  return id;
}

std::array<std::uint8_t, 16> IdSource::secret() {
  const std::array<std::uint64_t, 2> random = {bits(), bits()};
  return std::bit_cast<std::array<std::uint8_t, 16>>(random);
}

SeededIds::SeededIds(std::uint64_t seed) {
  for (auto& word : state_) {  // splitmix64, as recommended by xoshiro's authors
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

std::uint64_t SeededIds::bits() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

namespace {

void fill_random(void* out, std::size_t size) {
  const ssize_t got = getrandom(out, size, 0);
  assert(got == static_cast<ssize_t>(size));  // Never short for up to 256 bytes.
  (void)got;
}

}  // namespace

RandomIds::RandomIds() : SeededIds(0) {
  fill_random(state_.data(), sizeof(state_));
}

std::array<std::uint8_t, 16> RandomIds::secret() {
  std::array<std::uint8_t, 16> bytes;
  fill_random(bytes.data(), bytes.size());
  return bytes;
}

}  // namespace redrive
