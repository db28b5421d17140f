#include "base/digest.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/text.h"

namespace redrive {
namespace {

template <std::size_t N>
std::string hex(const std::array<std::uint8_t, N>& bytes) {
  return to_hex({reinterpret_cast<const char*>(bytes.data()), N});
}

std::string counting_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  return bytes;
}

// RFC 1321, and the body of the reference.
TEST(Md5, MatchesKnownDigests) {
  EXPECT_EQ(hex(md5("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex(md5("abc")), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex(md5("message digest")), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(hex(md5("h€llo wörld")), "10aec6d5b3cc8bda7a649d464305d720");
}

TEST(Md5, OfManyIsThatOfEach) {
  const std::string bytes = counting_bytes(200);
  std::vector<std::string_view> texts;
  for (std::size_t size : {0, 1, 55, 56, 63, 64, 65, 119, 120, 200}) {
    texts.push_back(std::string_view(bytes).substr(0, size));
    std::vector<Md5> out(texts.size());
    md5_many(texts, out);
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(out[i], md5(texts[i])) << i;
  }
  md5_many({}, {});
}

// FIPS 180-4's examples, and the deduplication id of the reference.
TEST(Sha256, MatchesKnownDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(R"({"order":1})"),
            "a781679e01308cfef90983a4c1350319a7e3993c3a3f5a8c8439781a326d7c8d");
  EXPECT_EQ(hex(sha256("abc")), sha256_hex("abc"));
}

// RFC 4231, cases 1, 2 and 6 (a key longer than a block).
TEST(HmacSha256, MatchesKnownDigests) {
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'),
                            "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HmacSha256, AKeyServesManyTexts) {
  const HmacSha256Key key("Jefe");
  for (const std::size_t size : {0u, 1u, 55u, 56u, 63u, 64u, 65u, 1'000u}) {
    const std::string text(size, 'x');
    EXPECT_EQ(key.sum(text), hmac_sha256("Jefe", text)) << size;
  }
  EXPECT_EQ(hex(key.sum("what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

// The check value of the algorithm, and RFC 3720's.
TEST(Crc32c, MatchesKnownSums) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(counting_bytes(32)), 0x46dd794eu);
}

TEST(Crc32c, GoesOnFromAnEarlierSumWhereverTheTextIsCut) {
  const std::string text = counting_bytes(61);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::string_view whole = text;
    EXPECT_EQ(crc32c(whole.substr(cut), crc32c(whole.substr(0, cut))), crc32c(whole)) << cut;
  }
}

// Long texts are processed in lanes, short ones serially: both must give the same result.
TEST(Crc32c, OfALongTextIsThatOfItsPieces) {
  std::string text;
  for (std::uint32_t i = 0; i < 10'000; ++i)
    text += static_cast<char>(i * i * 2'654'435'761u >> 24);
  for (std::size_t size = 700; size <= text.size(); size += size < 1'600 ? 1 : 399) {
    std::uint32_t pieces = 0;
    for (std::size_t at = 0; at < size; at += 100)
      pieces =
          crc32c(std::string_view(text).substr(at, std::min<std::size_t>(100, size - at)), pieces);
    ASSERT_EQ(crc32c(std::string_view(text).substr(0, size)), pieces) << size;
  }
}

TEST(Crc32c, OfTwoTextsFollowsFromTheirOwn) {
  const std::string bytes = counting_bytes(200);
  for (const std::size_t size : {0u, 1u, 47u, 200u}) {
    const std::string_view first = std::string_view(bytes).substr(0, size);
    const std::string_view second = std::string_view(bytes).substr(size);
    EXPECT_EQ(crc32c_join(crc32c(first), crc32c(second), second.size()), crc32c(bytes)) << size;
    EXPECT_EQ(crc32c_first(crc32c(bytes), crc32c(second), second.size()), crc32c(first)) << size;
  }
}

// The first of the reference vectors: key 00..0f, texts of 0, 1, 7, 8 and 15 counting bytes.
TEST(SipHash, MatchesTheReferenceVectors) {
  const std::string bytes = counting_bytes(16);
  std::array<std::uint8_t, 16> key;
  std::iota(key.begin(), key.end(), std::uint8_t{0});
  const std::pair<std::size_t, std::uint64_t> cases[] = {{0, 0x726fdb47dd0e0e31},
                                                         {1, 0x74f839c593dc67fd},
                                                         {7, 0xab0200f58b01d137},
                                                         {8, 0x93f5f5799a932462},
                                                         {15, 0xa129ca6149be45e5}};
  for (const auto& [size, expected] : cases) {
    EXPECT_EQ(siphash(key, std::string_view(bytes).substr(0, size)), expected) << size;
  }
}

TEST(SipHash, DependsOnEveryByteOfTheKey) {
  std::array<std::uint8_t, 16> key{};
  const std::uint64_t plain = siphash(key, "text");
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = 1;
    EXPECT_NE(siphash(key, "text"), plain) << i;
    key[i] = 0;
  }
}

}  // namespace
}  // namespace redrive
