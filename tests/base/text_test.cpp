#include "base/text.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>

namespace redrive {
namespace {

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

// The UTF-8 encoding of a code point, even where UTF-8 forbids it.
std::string utf8(std::uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Hex, DigitsOfEitherCaseHaveAValueAndNothingElse) {
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    int expected = -1;
    if (c >= '0' && c <= '9') expected = c - '0';
    if (c >= 'a' && c <= 'f') expected = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') expected = c - 'A' + 10;
    EXPECT_EQ(hex_digit(c), expected) << i;
  }
}

TEST(Hex, IsLowerCaseAndTwoDigitsAByte) {
  EXPECT_EQ(to_hex(""), "");
  EXPECT_EQ(to_hex(std::string_view("\x00\x0f\xa0\xff", 4)), "000fa0ff");
}

TEST(Hex, OfLongTextsIsThatOfTheirBytes) {
  std::string bytes;
  std::string digits;
  for (int c = 0; c < 256; ++c) {
    EXPECT_EQ(to_hex(bytes), digits);
    bytes += static_cast<char>(c);
    digits += to_hex(std::string_view(bytes).substr(bytes.size() - 1));
  }
}

TEST(Base64, MatchesTheVectorsOfTheRfc) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : cases) {
    EXPECT_EQ(base64_encode(plain), coded);
    EXPECT_EQ(base64_decode(coded), plain);
  }
}

TEST(Base64, GivesBackEveryByteAtEveryLength) {
  const std::string bytes = all_bytes();
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::string_view plain = std::string_view(bytes).substr(bytes.size() - size);
    const std::string coded = base64_encode(plain);
    EXPECT_EQ(coded.size(), (size + 2) / 3 * 4);
    EXPECT_EQ(base64_decode(coded), plain) << size;
  }
}

TEST(Base64, RefusesWhatIsNotCanonical) {
  const std::pair<const char*, const char*> cases[] = {{"no padding", "Zg"},
                                                       {"half the padding", "Zg="},
                                                       {"one digit", "Z==="},
                                                       {"padding alone", "===="},
                                                       {"padding within", "Zg==Zm9v"},
                                                       {"padding in the middle", "Z=g="},
                                                       {"bits left over", "Zh=="},
                                                       {"bits left over", "Zm9="},
                                                       {"space", "Zm9v Zm9"},
                                                       {"line end", "Zm9v\nZm8"},
                                                       {"the alphabet of URLs", "_-_-"},
                                                       {"not ASCII", "Zm9\xc3"}};
  for (const auto& [name, coded] : cases) {
    EXPECT_EQ(base64_decode(coded), std::nullopt) << name << ": " << coded;
  }
}

TEST(Base64, AppendsToWhatIsThere) {
  std::string out = "x:";
  base64_append(out, "foo");
  EXPECT_EQ(out, "x:Zm9v");
}

TEST(PercentCoding, EncodesAllButTheUnreserved) {
  EXPECT_EQ(percent_encode("AZaz09-_.~", false), "AZaz09-_.~");
  EXPECT_EQ(percent_encode("a b+c/d", false), "a%20b%2Bc%2Fd");
  EXPECT_EQ(percent_encode("a b+c/d", true), "a%20b%2Bc/d");
  EXPECT_EQ(percent_encode("\xe2\x82\xac", false), "%E2%82%AC");
}

TEST(PercentCoding, GivesBackEveryByte) {
  EXPECT_EQ(percent_decode(percent_encode(all_bytes(), false), false), all_bytes());
  EXPECT_EQ(percent_decode(percent_encode(all_bytes(), true), true), all_bytes());
}

TEST(PercentCoding, ABrokenEscapeStaysAsItStands) {
  for (const char* text : {"%", "%4", "a%", "a%2", "%zz", "%2g", "100%"}) {
    EXPECT_EQ(percent_decode(text, false), text);
  }
  EXPECT_EQ(percent_decode("%%41", false), "%A");
  EXPECT_EQ(percent_decode("%41%4", false), "A%4");
  EXPECT_EQ(percent_decode("%e2%82%AC", false), "\xe2\x82\xac");
}

TEST(PercentCoding, APlusIsASpaceOnlyInForms) {
  EXPECT_EQ(percent_decode("a+b%2Bc", true), "a b+c");
  EXPECT_EQ(percent_decode("a+b%2Bc", false), "a+b+c");
}

TEST(ParseInt, TakesAWholeNumberAndNothingAround) {
  EXPECT_EQ(parse_int<int>("0"), 0);
  EXPECT_EQ(parse_int<int>("-17"), -17);
  EXPECT_EQ(parse_int<std::int64_t>("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "0x1", "1.0", "-", "2147483648"}) {
    EXPECT_EQ(parse_int<int>(text), std::nullopt) << '"' << text << '"';
  }
  EXPECT_EQ(parse_int<unsigned>("-1"), std::nullopt);
}

TEST(IEquals, IgnoresTheCaseOfAsciiLettersOnly) {
  EXPECT_TRUE(iequals("", ""));
  EXPECT_TRUE(iequals("Content-Type", "cONTENT-tYPE"));
  EXPECT_FALSE(iequals("abc", "abcd"));
  EXPECT_FALSE(iequals("abc", "abd"));
  EXPECT_FALSE(iequals("@", "`"));  // 32 apart, like letters, but not letters.
  EXPECT_FALSE(iequals("[", "{"));
  EXPECT_FALSE(iequals("\xc3\x84", "\xc3\xa4"));  // Ä, ä
}

// Every pair of characters at every position of texts that are compared word by word.
TEST(Iequals, KnowsLettersFromWhatOnlyLooksLikeThem) {
  for (const std::size_t size : {7u, 8u, 9u, 15u, 16u, 21u}) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int c = 0; c < 256; ++c) {
        for (const int other : {c, c ^ 0x20, c ^ 0x01, c ^ 0x80}) {
          std::string a(size, 'q');
          std::string b(size, 'Q');
          a[at] = static_cast<char>(c);
          b[at] = static_cast<char>(other);
          ASSERT_EQ(iequals(a, b), lower_ascii(a[at]) == lower_ascii(b[at]))
              << size << " " << at << " " << c << " " << other;
        }
      }
    }
  }
}

TEST(Split, KeepsEmptyParts) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("a:b:c", ':'), (Parts{"a", "b", "c"}));
  EXPECT_EQ(split(":a::", ':'), (Parts{"", "a", "", ""}));
  EXPECT_EQ(split("abc", ':'), (Parts{"abc"}));
  EXPECT_EQ(split("", ':'), (Parts{""}));
}

struct CodePoint {
  std::uint32_t code;
  bool message;  // Allowed in a message.
  bool valid;    // Can be encoded in UTF-8.
};

// Both sides of every boundary.
constexpr CodePoint kCodePoints[] = {
    {0x00, false, true},      {0x08, false, true},      {0x09, true, true},
    {0x0a, true, true},       {0x0b, false, true},      {0x0c, false, true},
    {0x0d, true, true},       {0x0e, false, true},      {0x1f, false, true},
    {0x20, true, true},       {0x7e, true, true},       {0x7f, true, true},
    {0x80, true, true},       {0x7ff, true, true},      {0x800, true, true},
    {0xd7ff, true, true},     {0xd800, false, false},   {0xdbff, false, false},
    {0xdc00, false, false},   {0xdfff, false, false},   {0xe000, true, true},
    {0xfffd, true, true},     {0xfffe, false, true},    {0xffff, false, true},
    {0x10000, true, true},    {0x1fffe, true, true},    {0x10ffff, true, true},
    {0x110000, false, false}, {0x13ffff, false, false},
};

// Plain text is read eight bytes at a time, so the code point is placed at every offset of a word.
TEST(MessageText, AllowsExactlyTheCodePointsOfTheReference) {
  for (const CodePoint& point : kCodePoints) {
    for (std::size_t before = 0; before < 9; ++before) {
      for (std::size_t after : {0, 1, 7, 8, 16}) {
        const std::string text =
            std::string(before, 'x') + utf8(point.code) + std::string(after, 'x');
        EXPECT_EQ(is_message_text(text), point.message)
            << std::hex << point.code << " after " << before << " before " << after;
        EXPECT_EQ(is_utf8(text), point.valid) << std::hex << point.code;
      }
    }
  }
}

TEST(MessageText, RefusesBytesThatAreNotUtf8) {
  const std::pair<const char*, const char*> cases[] = {
      {"a continuation alone", "\x80"},
      {"a lead alone", "\xc3"},
      {"a lead before ASCII", "\xc3("},
      {"a lead before a lead", "\xc3\xc3\xa4"},
      {"two of three bytes", "\xe2\x82"},
      {"three of four bytes", "\xf0\x9f\x98"},
      {"two bytes for ASCII", "\xc0\x80"},
      {"two bytes for ASCII", "\xc1\xbf"},
      {"three bytes where two do", "\xe0\x9f\xbf"},
      {"four bytes where three do", "\xf0\x8f\xbf\xbf"},
      {"a lead of five bytes", "\xf8\x88\x80\x80\x80"},
      {"never a byte of UTF-8", "\xff"},
  };
  for (const auto& [name, text] : cases) {
    EXPECT_FALSE(is_utf8(text)) << name;
    EXPECT_FALSE(is_message_text(text)) << name;
    EXPECT_FALSE(is_message_text(std::string("eight ch") + text)) << name;
  }
}

TEST(MessageText, OfNothingIsFine) {
  EXPECT_TRUE(is_message_text(""));
  EXPECT_TRUE(is_utf8(""));
}

TEST(ReplaceInvalid, KeepsWhatIsValidAndReplacesTheRest) {
  EXPECT_EQ(replace_invalid(""), "");
  EXPECT_EQ(replace_invalid("Grüße 🦊\t\x01"), "Grüße 🦊\t\x01");
  EXPECT_EQ(replace_invalid("a\xff"
                            "b"),
            "a\uFFFDb");
  EXPECT_EQ(replace_invalid("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid("cut \xe2\x82"), "cut \uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid("a\x01"
                            "b\uFFFE\uFFFF\r\n",
                            Repertoire::xml),
            "a\uFFFDb\uFFFD\uFFFD\r\n");
}

TEST(Utf8Prefix, EndsBetweenCharacters) {
  EXPECT_EQ(utf8_prefix("abc", 3), "abc");
  EXPECT_EQ(utf8_prefix("abc", 2), "ab");
  EXPECT_EQ(utf8_prefix("aé", 2), "a");
  EXPECT_EQ(utf8_prefix("🦊x", 3), "");
  EXPECT_EQ(utf8_prefix("🦊x", 4), "🦊");
}

}  // namespace
}  // namespace redrive
