#include "aws/s3/checksum.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <optional>

#include "base/digest.h"
#include "base/result.h"
#include "base/text.h"

namespace redrive::s3 {
namespace {

template <class Word>
constexpr std::array<Word, 256> crc_table(Word reflected_polynomial) {
  std::array<Word, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) {
    Word sum = static_cast<Word>(i);
    for (int bit = 0; bit < 8; ++bit) {
      sum = (sum & 1) != 0 ? (sum >> 1) ^ reflected_polynomial : sum >> 1;
    }
    table[i] = sum;
  }
  return table;
}

constexpr auto kCrc32 = crc_table<std::uint32_t>(0xedb88320);
constexpr auto kCrc64Nvme = crc_table<std::uint64_t>(0x9a6c9329ac4bc9b5);

template <class Word>
Word crc(const std::array<Word, 256>& table, std::string_view bytes) {
  Word sum = ~Word{0};
  for (const char c : bytes) {
    sum = table[(sum ^ static_cast<unsigned char>(c)) & 0xff] ^ (sum >> 8);
  }
  return ~sum;
}

template <class Word>
std::string big_endian(Word value) {
  std::string bytes(sizeof value, '\0');
  for (std::size_t i = sizeof value; i-- > 0; value >>= 8) bytes[i] = static_cast<char>(value);
  return bytes;
}

template <class Sum>
std::string bytes_of(const Sum& sum) {
  return {reinterpret_cast<const char*>(sum.data()), sum.size()};
}

std::string sha1(std::string_view bytes) {
  std::array<unsigned char, SHA_DIGEST_LENGTH> sum{};
  SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), sum.data());
  return bytes_of(sum);
}

// Nothing: the header is not a digest.
std::optional<std::string> digest_for(std::string_view header, std::string_view body) {
  if (header == "content-md5") return bytes_of(md5(body));
  if (header == "x-amz-checksum-crc32") return big_endian(crc(kCrc32, body));
  if (header == "x-amz-checksum-crc32c") return big_endian(crc32c(body));
  if (header == "x-amz-checksum-crc64nvme") return big_endian(crc(kCrc64Nvme, body));
  if (header == "x-amz-checksum-sha1") return sha1(body);
  if (header == "x-amz-checksum-sha256") return bytes_of(sha256(body));
  return std::nullopt;
}

}  // namespace

Outcome<HeaderPairs> check_digests(std::string_view body, const HeaderPairs& claimed) {
  HeaderPairs kept;
  for (const auto& [name, value] : claimed) {
    const auto actual = digest_for(name, body);
    if (!actual) continue;
    if (base64_encode(*actual) != value) {
      return refuse(400,
                    "BadDigest",
                    fmt::format("The {} you specified did not match what we received.", name));
    }
    if (name != "content-md5") kept.emplace_back(name, value);
  }
  return kept;
}

}  // namespace redrive::s3
