#include "dead_letter/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace redrive::dead_letter {
namespace {

constexpr MaskOptions kRoomy{.bytes_max = 4096};

TEST(MaskSecrets, MasksWhatMustNotBeShownAndNothingElse) {
  const struct {
    const char* name;
    const char* text;
    const char* masked;
  } cases[] = {
      {"nothing secret", R"({"item":"x","qty":1})", R"({"item":"x","qty":1})"},
      {"empty", "", ""},
      {"json string", R"({"password": "hun\"ter2", "a": 1})", R"({"password": "***", "a": 1})"},
      {"json number", R"({"pin":1234,"a":1})", R"({"pin":***,"a":1})"},
      {"json null", R"({"token":null,"a":1})", R"({"token":null,"a":1})"},
      {"json object", R"({"credentials":{"u":"}","p":[1]},"a":1})", R"({"credentials":***,"a":1})"},
      {"json array", R"({"apiKeys":["a","b"],"n":2})", R"({"apiKeys":***,"n":2})"},
      {"spellings",
       R"({"api_key":"x1","Api-Key":"x2","apiKey":"x3","x-api-key":"x4"})",
       R"({"api_key":"***","Api-Key":"***","apiKey":"***","x-api-key":"***"})"},
      {"compound names",
       R"({"userPassword":"a","db_secret":"b","accessToken":"c"})",
       R"({"userPassword":"***","db_secret":"***","accessToken":"***"})"},
      {"names that only sound like it",
       R"({"tokens":17,"passenger":"y"})",
       R"({"tokens":17,"passenger":"y"})"},
      {"json in a json string",
       R"({"b":"{\"password\":\"hunter2\",\"c\":1}"})",
       R"({"b":"{\"password\":\"***\",\"c\":1}"})"},
      {"json cut off", R"({"a":1,"password":"hunt)", R"({"a":1,"password":"***)"},
      {"empty value", R"({"password":"","a":1})", R"({"password":"","a":1})"},
      {"form", "user=ana&password=hunter2&x=1", "user=ana&password=***&x=1"},
      {"log line",
       "login failed: password=hunter2, ip=10.0.0.1",
       "login failed: password=***, ip=10.0.0.1"},
      {"header", "Authorization: Bearer abc.def\r\nHost: x", "Authorization: ***\r\nHost: x"},
      {"cookies", "Cookie: a=1; b=2\nHost: x", "Cookie: ***\nHost: x"},
      {"bearer in text", "sent Bearer abcdefgh12 to y", "sent Bearer *** to y"},
      {"the word bearer", "the bearer is late", "the bearer is late"},
      {"card", "card 4111 1111 1111 1111 declined", "card *** declined"},
      {"card as a number", R"({"n":5500005555555559})", R"({"n":***})"},
      {"american express", "378282246310005", "***"},
      {"no card: bad check digit", "4111111111111112", "4111111111111112"},
      {"no card: time in milliseconds", "1700000000008", "1700000000008"},
      {"part of a longer number", "94111111111111111190", "94111111111111111190"},
      {"aws key", "key AKIAIOSFODNN7EXAMPLE used", "key *** used"},
      {"aws secret",
       "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
       "aws_secret_access_key = ***"},
      {"jwt", "t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_DEF9 end", "t *** end"},
      {"private key",
       "k: -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nend",
       "k: ***\nend"},
      {"private key cut off", "-----BEGIN PRIVATE KEY-----\nMIIE", "***"},
      {"public key", "-----BEGIN PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----"},
      {"password in a url", "postgres://ana:hunter2@db:5432/x", "postgres://ana:***@db:5432/x"},
      {"url without password", "https://x.example:8080/a@b", "https://x.example:8080/a@b"},
      {"service keys", "sk_live_0123456789abcdefXY", "***"},
      {"not utf-8", "a\xff\xfe password=x", "a\xff\xfe password=***"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(mask_secrets(one.text, kRoomy), one.masked);
  }
}

TEST(MaskSecrets, CutsBetweenCharacters) {
  EXPECT_EQ(mask_secrets("abcdef", {.bytes_max = 6}), "abcdef");
  EXPECT_EQ(mask_secrets("abcdefg", {.bytes_max = 6}), "abc…");
  EXPECT_EQ(mask_secrets("abcdefg", {.bytes_max = 2}), "");
  const std::string umlauts = "ääääääää";
  for (std::size_t bytes = 0; bytes < 20; ++bytes) {
    const std::string cut = mask_secrets(umlauts, {.bytes_max = bytes});
    EXPECT_LE(cut.size(), bytes);
    EXPECT_TRUE(is_utf8(cut)) << bytes;
  }
}

// A cut never shows the first half of a secret: it is masked before it is cut.
TEST(MaskSecrets, CutsAfterMasking) {
  const std::string text = R"({"a":1,"password":"0123456789012345678901234567890123456789"})";
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    EXPECT_THAT(mask_secrets(text, {.bytes_max = bytes}), testing::Not(testing::HasSubstr("0")));
  }
}

TEST(MaskSecrets, ReadsNoMoreThanItShows) {
  for (const char* part : {"4111 ", "a", "password=", "\\", "://a:b@", "{\"secret\":[", "eyJ"}) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    EXPECT_LE(mask_secrets(text, {.bytes_max = 256}).size(), 256u);
  }
}

}  // namespace
}  // namespace redrive::dead_letter
