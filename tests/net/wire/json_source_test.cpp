#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "net/wire/checks.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"
#include "tests/net/wire/padded.h"
#include "tests/net/wire/parcel.h"

namespace redrive::wire {
namespace {

class JsonSource : public testing::Test {
 protected:
  Result<void> decode(std::string_view json) {
    body_.emplace_back(json);
    return decode_json(decoder_, body_.back(), parcel_);
  }
  Error refusal(std::string_view json) {
    const auto result = decode(json);
    EXPECT_FALSE(result) << json;
    return result ? Error{} : result.error();
  }
  // The letter and the weight are required; the test case is the rest.
  static std::string with(std::string_view members) {
    return R"({"Letter":"hi","Weight":1)" + std::string(members) + "}";
  }

  Decoder decoder_;
  Parcel parcel_;
  std::vector<Padded> body_;
};

TEST_F(JsonSource, ReadsBackWhatTheSinkWrites) {
  std::string json;
  encode_json(json, full_parcel());
  ASSERT_TRUE(decode(json)) << json;
  EXPECT_EQ(parcel_, full_parcel());
}

TEST_F(JsonSource, StartsFromACleanStruct) {
  parcel_ = full_parcel();
  ASSERT_TRUE(decode(with("")));
  EXPECT_EQ(parcel_, (Parcel{.letter = "hi", .weight = 1}));
}

TEST_F(JsonSource, IsLenient) {
  const Parcel plain{.letter = "hi", .weight = 1};
  Parcel floor = plain;
  floor.floor = 5;
  Parcel fragile = plain;
  fragile.fragile = true;
  Parcel litres = plain;
  litres.litres = 0.5;
  Parcel routes = plain;
  routes.routes = {"a"};
  const struct {
    std::string_view name;
    std::string_view members;
    Parcel expected;
  } cases[] = {
      {"unknown scalar", R"(,"Colour":"red")", plain},
      {"unknown tree", R"(,"Colour":{"a":[1,{"b":[[]]}],"Letter":"no"})", plain},
      {"null", R"(,"Floor":null,"Routes":null,"Seal":null)", plain},
      {"null after value", R"(,"Floor":4,"Floor":null)", plain},
      {"numeric string", R"(,"Floor":"5")", floor},
      {"whole float", R"(,"Floor":5.0)", floor},
      {"exponent", R"(,"Floor":0.5e1)", floor},
      {"number", R"(,"Litres":0.5)", litres},
      {"number with exponent", R"(,"Litres":5e-1)", litres},
      {"number in a string", R"(,"Litres":"0.50")", litres},
      {"last wins", R"(,"Floor":4,"Floor":5)", floor},
      {"flag in a string", R"(,"Fragile":"True")", fragile},
      {"empty list", R"(,"Routes":[])", plain},
      {"last list wins", R"(,"Routes":["x","y"],"Routes":["a"])", routes},
      {"null item", R"(,"Routes":[null,"a"])", routes},
      {"null label", R"(,"Labels":{"a":null})", plain},
      {"escaped name", R"(,"Fl\u006for":5)", floor},
      {"spaces", " ,\n\t\"Floor\" :\r 5 ", floor},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const auto result = decode(with(each.members));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(parcel_, each.expected);
  }
}

TEST_F(JsonSource, RefusesUnknownMembersOnRequestUnlessTheyAreEmpty) {
  const struct {
    std::string_view members;
    std::string_view refused;  // Empty: accepted.
  } cases[] = {
      {R"(,"Floor":4)", ""},
      {R"(,"Colour":null)", ""},
      {R"(,"Colour":"","Shape":[],"Size":{ })", ""},
      {R"(,"Colour":"red")", "Colour"},
      {R"(,"Colour":false)", "Colour"},
      {R"(,"Colour":0)", "Colour"},
      {R"(,"Colour":{"a":null})", "Colour"},
      {R"(,"Colour":[[]],"Floor":4)", "Colour"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.members);
    const Padded body(with(each.members));
    const auto result = decode_json(decoder_, body, parcel_, UnknownMembers::refuse);
    ASSERT_EQ(result.has_value(), each.refused.empty());
    if (each.refused.empty()) continue;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_parameter_value);
    EXPECT_EQ(result.error().message,
              std::string(each.refused) + " is not supported by this server.");
  }
}

TEST_F(JsonSource, LetsALaterLabelReplaceAnEarlier) {
  ASSERT_TRUE(decode(with(R"(,"Labels":{"a":"1","b":"2","a":"3"})")));
  const decltype(parcel_.labels) expected = {{"a", "3"}, {"b", "2"}};
  EXPECT_EQ(parcel_.labels, expected);
}

TEST_F(JsonSource, ResolvesEscapes) {
  const struct {
    std::string_view json;
    std::string_view text;
  } cases[] = {
      {R"(\"\\\/\b\f\n\r\t)", "\"\\/\b\f\n\r\t"},
      {R"(h\u20acllo w\u00f6rld)", "h€llo wörld"},
      {R"(\ud83d\ude00)", "😀"},
      {R"(\uD83D\uDE00 after)", "😀 after"},
      {R"(a long text without any escape at all, then one \\ and the rest)",
       R"(a long text without any escape at all, then one \ and the rest)"},
      {R"(\u0041\u007f\u0080\u07ff\u0800\uffff)", "A\x7f\u0080\u07ff\u0800\uffff"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.json);
    ASSERT_TRUE(decode(with(R"(,"Note":")" + std::string(each.json) + R"(")")));
    EXPECT_EQ(parcel_.note, each.text);
  }
}

TEST_F(JsonSource, TakesPlainTextFromTheBodyItself) {
  const Padded body(with(""));
  const std::string_view text = body;
  ASSERT_TRUE(decode_json(decoder_, body, parcel_));
  EXPECT_GE(parcel_.letter.data(), text.data());
  EXPECT_LT(parcel_.letter.data(), text.data() + text.size());
}

// Whether such a message is refused, and with which code, is decided by the caller.
TEST_F(JsonSource, HandsHalfASurrogatePairOverInContentOnly) {
  const struct {
    std::string_view json;
    std::string_view text;
  } cases[] = {
      {R"(\ud800)", "\xed\xa0\x80"},
      {R"(\udfff.)", "\xed\xbf\xbf."},
      {R"(\ud800\u0041)",
       "\xed\xa0\x80"
       "A"},
      {R"(\ud800\ud83d\ude00)", "\xed\xa0\x80😀"},
      {R"(\ud800\n)", "\xed\xa0\x80\n"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.json);
    const std::string quoted = "\"" + std::string(each.json) + "\"";
    ASSERT_TRUE(decode(R"({"Weight":1,"Letter":)" + quoted + "}"));
    EXPECT_EQ(parcel_.letter, each.text);
    EXPECT_FALSE(is_message_text(parcel_.letter));
    EXPECT_TRUE(decode(with(R"(,"Extras":{"x":{"Country":)" + quoted + "}}")));
    EXPECT_EQ(refusal(with(R"(,"Note":)" + quoted)).code, ErrorCode::malformed_request);
  }
}

TEST_F(JsonSource, RefusesWhatIsNoRequest) {
  const std::string_view bodies[] = {
      "x",
      "[]",
      "\"text\"",
      "5",
      "null",
      "{",
      "}",
      "{}}",
      "{} {}",
      "{} x",
      R"({"Letter")",
      R"({"Letter":})",
      R"({"Letter":"hi","Weight":1)",
      R"({"Letter":"hi""Weight":1})",
      R"({"Letter":"hi,"Weight":1})",
      R"({"Letter":"hi","Weight":01})",
      R"({"Letter":"hi","Weight":1,"Routes":["a")",
      R"({"Letter":"hi","Weight":1,"Routes":["a"}})",
      R"({"Letter":"hi","Weight":1,"Seal":{"Country":"AT"})",
      R"({"Letter":"\x","Weight":1})",
      R"({"Letter":"\u12","Weight":1})",
      R"({"Letter":"\u12G4","Weight":1})",
      R"({"Letter":"\ud83d\u12","Weight":1})",
      "{\"Letter\":\"\xff\",\"Weight\":1}",
      "{\"Letter\":\"\xed\xa0\x80\",\"Weight\":1}",
      "{\"Letter\":\"a\nb\",\"Weight\":1}",
      "{\"Letter\":\"hi\",\"Weight\":1,\"Note\":nul}",
  };
  for (const std::string_view body : bodies) {
    for (const char padding : {'}', '\0', ',', '"', ']', ' '}) {
      const Padded padded(body, padding);
      const auto result = decode_json(decoder_, padded, parcel_);
      ASSERT_FALSE(result) << body;
      EXPECT_EQ(result.error().code, ErrorCode::malformed_request) << body;
    }
  }
}

TEST_F(JsonSource, NamesTheMemberOfTheWrongType) {
  const struct {
    std::string_view members;
    std::string_view message;
  } cases[] = {
      {R"(,"Note":5)", "Note must be a string."},
      {R"(,"Note":{})", "Note must be a string."},
      {R"(,"Floor":"five")", "Floor must be an integer."},
      {R"(,"Floor":1.5)", "Floor must be an integer."},
      {R"(,"Floor":1e400)", "Floor must be an integer."},
      {R"(,"PostedAt":1e30)", "PostedAt must be an integer."},
      {R"(,"Floor":true)", "Floor must be an integer."},
      {R"(,"Floor":[])", "Floor must be an integer."},
      {R"(,"Litres":"half")", "Litres must be a number."},
      {R"(,"Litres":"inf")", "Litres must be a number."},
      {R"(,"Litres":"")", "Litres must be a number."},
      {R"(,"Litres":1e400)", "Litres must be a number."},
      {R"(,"Litres":false)", "Litres must be a number."},
      {R"(,"Fragile":1)", "Fragile must be true or false."},
      {R"(,"Fragile":"yes")", "Fragile must be true or false."},
      {R"(,"Id":"5fea7756")", "Id must be a UUID."},
      {R"(,"Digest":"zz")", "Digest must be an MD5 in hexadecimal digits."},
      {R"(,"Routes":"a")", "Routes must be a list."},
      {R"(,"Routes":{"a":"b"})", "Routes must be a list."},
      {R"(,"Routes":[1])", "Routes must be a string."},
      {R"(,"Labels":["a"])", "Labels must be an object."},
      {R"(,"Labels":{"a":1})", "Labels must be a string."},
      {R"(,"Seal":"x")", "Seal must be an object."},
      {R"(,"Stamps":[{"Country":"a"},{"Country":5}])", "Stamp.2.Country must be a string."},
      {R"(,"Stamps":[{"Country":"a","Image":"&"}])", "Stamp.1.Image must be a string in base64."},
      {R"(,"Extras":{"x":{"Country":5}})", "Extra.1.Country must be a string."},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.members);
    const Error error = refusal(with(each.members));
    EXPECT_EQ(error.code, ErrorCode::malformed_request);
    EXPECT_EQ(error.message, each.message);
  }
}

TEST_F(JsonSource, HoldsARecordToItsShape) {
  const struct {
    std::string_view json;
    ErrorCode code;
    std::string_view message;
  } cases[] = {
      {"", ErrorCode::missing_parameter, "The request must contain the parameter Letter."},
      {" \r\n", ErrorCode::missing_parameter, "The request must contain the parameter Letter."},
      {"{}", ErrorCode::missing_parameter, "The request must contain the parameter Letter."},
      {R"({"Letter":"","Weight":1})",
       ErrorCode::missing_parameter,
       "The request must contain the parameter Letter."},
      {R"({"Letter":null,"Weight":1})",
       ErrorCode::missing_parameter,
       "The request must contain the parameter Letter."},
      {R"({"Letter":"hi"})",
       ErrorCode::missing_parameter,
       "The request must contain the parameter Weight."},
      {R"({"Letter":"hi","Weight":1,"Stamps":[{"Country":"a"},{}]})",
       ErrorCode::missing_parameter,
       "The request must contain the parameter Stamp.2.Country."},
      {R"({"Weight":901})",
       ErrorCode::missing_parameter,
       "The request must contain the parameter Letter."},
      {R"({"Letter":"hi","Weight":901})",
       ErrorCode::invalid_parameter_value,
       "Value 901 for parameter Weight is invalid. Reason: Too heavy or too light."},
      {R"({"Letter":"hi","Weight":-1})",
       ErrorCode::invalid_parameter_value,
       "Value -1 for parameter Weight is invalid. Reason: Too heavy or too light."},
      {R"({"Letter":"hi","Weight":99999999999})",
       ErrorCode::invalid_parameter_value,
       "Value 99999999999 for parameter Weight is invalid. Reason: Too heavy or too light."},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.json);
    EXPECT_EQ(refusal(each.json), (Error{each.code, std::string(each.message)}));
  }
}

TEST_F(JsonSource, BearsHostileSizes) {
  const auto repeat = [](std::string_view text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  const std::string large = with(R"(,"Note":")" + std::string(1 << 20, 'x') + "\"");
  ASSERT_TRUE(decode(large));
  EXPECT_EQ(parcel_.note->size(), 1u << 20);
  const std::string escaped = with(R"(,"Note":")" + repeat("\\n", 1 << 19) + "\"");
  ASSERT_TRUE(decode(escaped));
  EXPECT_EQ(parcel_.note, std::string(1 << 19, '\n'));

  const std::size_t depth = 100'000;
  EXPECT_TRUE(decode(with(R"(,"Deep":)" + repeat("[", depth) + repeat("]", depth))));
  EXPECT_FALSE(decode(with(R"(,"Deep":)" + repeat("[", depth))));
  EXPECT_FALSE(decode(with(R"(,"Labels":)" + repeat("{\"a\":", depth) + repeat("}", depth))));
  EXPECT_FALSE(decode(with(R"(,"Routes":["x")" + repeat(",\"x\"", kListItemsMax) + "]")));
  std::string labels = R"(,"Labels":{"0":"")";
  for (std::size_t i = 1; i <= kMapItemsMax; ++i) labels += ",\"" + std::to_string(i) + "\":\"\"";
  EXPECT_FALSE(decode(with(labels + "}")));
  EXPECT_FALSE(decode(std::string(kJsonBytesMax + 1, ' ') + "{}"));
}

}  // namespace
}  // namespace redrive::wire
