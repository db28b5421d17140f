#include "dead_letters/triage/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace redrive::triage {
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
      {"json number", R"({"pin":1234,"a":1})", R"({"pin":"***","a":1})"},
      {"json null", R"({"token":null,"a":1})", R"({"token":null,"a":1})"},
      {"json object",
       R"({"credentials":{"u":"}","p":[1]},"a":1})",
       R"({"credentials":"***","a":1})"},
      {"json array", R"({"apiKeys":["a","b"],"n":2})", R"({"apiKeys":"***","n":2})"},
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
      {"number in a json string", R"({"b":"{\"pin\":1234}"})", R"({"b":"{\"pin\":\"***\"}"})"},
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
      {"card as a number", R"({"n":5500005555555559})", R"({"n":"***"})"},
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
      {"escaped key", R"({"pass\u0077ord":"x","a":1})", R"({"pass\u0077ord":"***","a":1})"},
      {"key that begins with an escape", R"({"\u0070in":1234})", R"({"\u0070in":"***"})"},
      {"escaped key in a json string",
       R"({"b":"{\"pass\\u0077ord\":\"x\",\"c\":1}"})",
       R"({"b":"{\"pass\\u0077ord\":\"***\",\"c\":1}"})"},
      {"line break before a name", R"("a\npin=1234 b")", R"("a\npin=*** b")"},
      {"cyrillic letters", R"({"pаsswоrd":"x"})", R"({"pаsswоrd":"***"})"},
      {"escaped cyrillic letter", R"({"p\u0430ssword":"x"})", R"({"p\u0430ssword":"***"})"},
      {"full width", "ｐａｓｓｗｏｒｄ=x", "ｐａｓｓｗｏｒｄ=***"},
      {"mathematical", "𝐭𝐨𝐤𝐞𝐧=x", "𝐭𝐨𝐤𝐞𝐧=***"},
      {"marks", "sécret=x", "sécret=***"},
      {"names in other scripts", "имя=Анна", "имя=Анна"},
      {"xml element",
       "<a><password>x&amp;y</password><b>1</b></a>",
       "<a><password>***</password><b>1</b></a>"},
      {"xml with prefix and attributes",
       R"(<w:Password Type="t" secret="s">x</w:Password>)",
       R"(<w:Password Type="t" secret="***">***</w:Password>)"},
      {"xml with children",
       "<credentials><u>a</u><p><q/>b</p></credentials><c>1</c>",
       "<credentials>***</credentials><c>1</c>"},
      {"xml with a cdata section", "<pin><![CDATA[</pin>12]]></pin>ok", "<pin>***</pin>ok"},
      {"xml attribute",
       R"(<user name="a" password="x" b="1"/>)",
       R"(<user name="a" password="***" b="1"/>)"},
      {"empty xml element",
       "<password/><password></password><a>1</a>",
       "<password/><password></password><a>1</a>"},
      {"xml cut off", "<password>hunt", "<password>***"},
      {"no xml",
       "usage: login <user> <password>\nnext line",
       "usage: login <user> <password>\nnext line"},
      {"iban", "to DE89370400440532013000 now", "to *** now"},
      {"iban in groups", "GB29 NWBK 6016 1331 9268 19.", "***."},
      {"iban in json", R"({"acct":"FR1420041010050500013M02606"})", R"({"acct":"***"})"},
      {"no iban: bad checksum", "DE88370400440532013000", "DE88370400440532013000"},
      {"no iban: too long", "DE893704004405320130001", "DE893704004405320130001"},
      {"aws secret beside its id",
       "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
       "*** ***"},
      {"aws secret before its id",
       R"({"s":"/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY","i":"ASIAIOSFODNN7EXAMPLE"})",
       R"({"s":"***","i":"***"})"},
      {"a digest beside an id",
       "AKIAIOSFODNN7EXAMPLE 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
       "*** 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"},
      {"forty characters without an id",
       "x wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
       "x wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
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

// A cut never shows part of a secret: masking comes before cutting.
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

MaskRules rules_of(std::vector<std::string> paths, std::vector<std::string> attributes = {}) {
  return *MaskRules::make(paths, std::move(attributes));
}

TEST(MaskRules, MaskWhatTheirPathsLeadTo) {
  const MaskRules rules =
      rules_of({"$.customer.name", "$.items[*].note", "$.list[1]", "$['a b']", "$.customer"});
  const auto masked = [&](std::string_view text) {
    return mask_secrets(text, {.bytes_max = 4096, .rules = &rules});
  };
  EXPECT_EQ(masked(R"({"customer":{"name":"Ana","id":1},"x":2})"), R"({"customer":"***","x":2})");
  EXPECT_EQ(masked(R"({"items":[{"note":"n","a":1},{"note":[1,2]}]})"),
            R"({"items":[{"note":"***","a":1},{"note":"***"}]})");
  EXPECT_EQ(masked(R"({"list":[1,22,3], "a b" : true })"),
            R"({"list":[1,"***",3], "a b" : "***" })");
  EXPECT_EQ(masked(R"({"cust\u006fmer":"Ana","password":"x"})"),
            R"({"cust\u006fmer":"***","password":"***"})");
  EXPECT_EQ(masked(R"({"customer":1,"customer":2})"), R"({"customer":"***","customer":"***"})");
  EXPECT_EQ(masked(R"({"note":"<password ","customer":"Ana"})"),
            R"({"note":"<password ","customer":"***"})");
  EXPECT_EQ(masked("customer=Ana, no JSON"), "customer=Ana, no JSON");
  EXPECT_EQ(masked(std::string(3000, '[') + "1"), std::string(3000, '[') + "1");
}

TEST(MaskRules, MaskAttributesByName) {
  const MaskRules rules = rules_of({"$.ssn_like"}, {"X-Tenant"});
  EXPECT_EQ(mask_named_value("x-tenant", "acme", &rules), "***");
  EXPECT_EQ(mask_named_value("x-tenant", "acme", nullptr), "acme");
  EXPECT_EQ(mask_named_value("DB_PASSWORD", "x", nullptr), "***");
  EXPECT_EQ(mask_named_value("DB_PASSWORD", "", nullptr), "");
  EXPECT_EQ(mask_named_value("doc", R"({"ssn_like":1})", &rules), R"({"ssn_like":"***"})");
}

TEST(MaskRules, RefusePathsThatCannotBeRead) {
  EXPECT_FALSE(MaskRules::make({"customer.name"}, {}).has_value());
  EXPECT_FALSE(MaskRules::make({"$["}, {}).has_value());
  EXPECT_FALSE(MaskRules::make({}, {""}).has_value());
  EXPECT_FALSE(MaskRules::make(std::vector<std::string>(101, "$.a"), {}).has_value());
}

// Only reading ahead could make the time superlinear; each of these inputs provokes as much of it
// as possible. With a sanitizer they take a second together, and with a quadratic step minutes.
TEST(MaskSecrets, TakesTimeInProportionToTheText) {
  const MaskRules rules = rules_of({"$.a[*].b", "$.c"});
  for (const char* part : {"<password>",
                           "<password ",
                           "<pin1><a>",
                           "\\",
                           "\\\"",
                           "\\u0070",
                           "password ",
                           "AKIAIOSFODNN7EXAMPLE ",
                           "ASIA",
                           "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY ",
                           "DE89 ",
                           "password=\"\\",
                           "-----BEGIN ",
                           "а",
                           "[",
                           "{\"a\":",
                           "://:@"}) {
    SCOPED_TRACE(part);
    std::string text = "password=\"";
    while (text.size() < 300'000) text += part;
    const std::string masked = mask_secrets(text, {.bytes_max = text.npos, .rules = &rules});
    EXPECT_LE(masked.size(), 4 * text.size());
    text.erase(0, 10);
    EXPECT_LE(mask_secrets(text, {.bytes_max = text.npos, .rules = &rules}).size(),
              4 * text.size());
  }
  // A quote after so many backslashes that searching for its counterpart would compare them all
  // each time.
  const std::string slashes(200'000, '\\');
  EXPECT_EQ(mask_secrets("password=" + slashes + "\"" + slashes, {.bytes_max = SIZE_MAX}),
            "password=***");
}

}  // namespace
}  // namespace redrive::triage
