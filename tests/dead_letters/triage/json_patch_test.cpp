#include "dead_letters/triage/json_patch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "dead_letters/triage/json_scan.h"

namespace redrive::triage {
namespace {

using testing::HasSubstr;

std::string patched(std::string_view document, std::string_view patch) {
  const auto parsed = JsonPatch::parse(patch);
  if (!parsed) return "parse: " + parsed.error().message;
  const auto applied = parsed->apply(document);
  return applied ? *applied : "apply: " + applied.error().message;
}

struct PatchCase {
  const char* name;
  const char* document;
  const char* patch;
  const char* result;
};

// RFC 6902, appendix A.
constexpr PatchCase kAppendix[] = {
    {"A1",
     R"({"foo":"bar"})",
     R"([{"op":"add","path":"/baz","value":"qux"}])",
     R"({"foo":"bar","baz":"qux"})"},
    {"A2",
     R"({"foo":["bar","baz"]})",
     R"([{"op":"add","path":"/foo/1","value":"qux"}])",
     R"({"foo":["bar","qux","baz"]})"},
    {"A3",
     R"({"baz":"qux","foo":"bar"})",
     R"([{"op":"remove","path":"/baz"}])",
     R"({"foo":"bar"})"},
    {"A4",
     R"({"foo":["bar","qux","baz"]})",
     R"([{"op":"remove","path":"/foo/1"}])",
     R"({"foo":["bar","baz"]})"},
    {"A5",
     R"({"baz":"qux","foo":"bar"})",
     R"([{"op":"replace","path":"/baz","value":"boo"}])",
     R"({"baz":"boo","foo":"bar"})"},
    {"A6",
     R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
     R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
     R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
    {"A7",
     R"({"foo":["all","grass","cows","eat"]})",
     R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
     R"({"foo":["all","cows","eat","grass"]})"},
    {"A8",
     R"({"baz":"qux","foo":["a",2,"c"]})",
     R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
     R"({"baz":"qux","foo":["a",2,"c"]})"},
    {"A9",
     R"({"baz":"qux"})",
     R"([{"op":"test","path":"/baz","value":"bar"}])",
     R"(apply: Operation 1 (test "/baz"): the value is "qux".)"},
    {"A10",
     R"({"foo":"bar"})",
     R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
     R"({"foo":"bar","child":{"grandchild":{}}})"},
    {"A11",
     R"({"foo":"bar"})",
     R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])",
     R"({"foo":"bar","baz":"qux"})"},
    {"A12",
     R"({"foo":"bar"})",
     R"([{"op":"add","path":"/baz/bat","value":"qux"}])",
     R"(apply: Operation 1 (add "/baz/bat"): there is nothing at "/baz".)"},
    {"A13",
     R"({"foo":"bar"})",
     R"([{"op":"add","path":"/baz","value":"qux","op":"remove"}])",
     R"(parse: Operation 1: It has two members "op".)"},
    {"A14",
     R"({"/":9,"~1":10})",
     R"([{"op":"test","path":"/~01","value":10}])",
     R"({"/":9,"~1":10})"},
    {"A15",
     R"({"/":9,"~1":10})",
     R"([{"op":"test","path":"/~01","value":"10"}])",
     R"(apply: Operation 1 (test "/~01"): the value is 10.)"},
    {"A16",
     R"({"foo":["bar"]})",
     R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
     R"({"foo":["bar",["abc","def"]]})"},
};

constexpr PatchCase kOwnCases[] = {
    {"keeps_bytes",
     R"({ "n":1.10e+2, "s":"\u0041\/", "o":{ "a" : [1 , 2] }, "x":0})",
     R"([{"op":"replace","path":"/x","value":12345678901234567890123}])",
     R"({"n":1.10e+2,"s":"\u0041\/","o":{ "a" : [1 , 2] },"x":12345678901234567890123})"},
    {"add_replaces",
     R"({"a":1,"b":2})",
     R"([{"op":"add","path":"/a","value":null}])",
     R"({"a":null,"b":2})"},
    {"root", R"({"a":1})", R"([{"op":"replace","path":"","value":[ ]}])", "[ ]"},
    {"copy_root",
     R"({"a":1})",
     R"([{"op":"copy","from":"","path":"/b"}])",
     R"({"a":1,"b":{"a":1}})"},
    {"move_to_root", R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":""}])", R"({"b":1})"},
    {"move_to_itself", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
    {"escaped_key",
     R"({"a\u0062":1,"c\"d":2})",
     R"([{"op":"remove","path":"/ab"},{"op":"add","path":"/\u0001\"","value":3}])",
     R"({"c\"d":2,"\u0001\"":3})"},
    {"surrogates",
     R"({"\ud83d\ude00":1})",
     R"([{"op":"test","path":"/😀","value":1.0}])",
     R"({"\ud83d\ude00":1})"},
    {"empty_key",
     R"({"":{"":1}})",
     R"([{"op":"replace","path":"//","value":2}])",
     R"({"":{"":2}})"},
    {"numbers",
     R"({"a":100,"b":0,"c":0.5,"d":123456789012345678901})",
     R"([{"op":"test","path":"","value":{"d":1.23456789012345678901E20,"c":5e-1,"b":-0.0,"a":1E2}}])",
     R"({"a":100,"b":0,"c":0.5,"d":123456789012345678901})"},
    {"number_differs",
     R"([123456789012345678901])",
     R"([{"op":"test","path":"/0","value":123456789012345678902}])",
     R"(apply: Operation 1 (test "/0"): the value is 123456789012345678901.)"},
    {"scalar_root",
     "7",
     R"([{"op":"add","path":"/a","value":1}])",
     R"(apply: Operation 1 (add "/a"): there is nothing at "/a".)"},
    {"twice",
     R"({"a":1,"a":2})",
     R"([{"op":"remove","path":"/a"}])",
     R"(apply: Operation 1 (remove "/a"): the key "a" occurs twice.)"},
    {"untouched_twice",
     R"({"a":1,"a":2})",
     R"([{"op":"add","path":"/b","value":3}])",
     R"({"a":1,"a":2,"b":3})"},
    {"remove_root",
     "{}",
     R"([{"op":"remove","path":""}])",
     R"(apply: Operation 1 (remove ""): the whole document cannot be removed.)"},
    {"remove_dash",
     "[1]",
     R"([{"op":"remove","path":"/-"}])",
     R"(apply: Operation 1 (remove "/-"): there is nothing at "/-".)"},
    {"leading_zero",
     "[1,2]",
     R"([{"op":"remove","path":"/01"}])",
     R"(apply: Operation 1 (remove "/01"): "01" is not an index of the array at "".)"},
    {"past_the_end",
     "[1]",
     R"([{"op":"add","path":"/2","value":2}])",
     R"(apply: Operation 1 (add "/2"): the array at "" has only 1 items.)"},
    {"at_the_end", "[1]", R"([{"op":"add","path":"/1","value":2}])", "[1,2]"},
    {"huge_index",
     "[1]",
     R"([{"op":"add","path":"/99999999999999999999","value":2}])",
     R"(apply: Operation 1 (add "/99999999999999999999"): "99999999999999999999" is not an index of the array at "".)"},
    {"none_or_all",
     R"({"a":1})",
     R"([{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}])",
     R"(apply: Operation 2 (remove "/a"): there is nothing at "/a".)"},
    {"into_itself",
     R"({"a":{}})",
     R"([{"op":"move","from":"/a","path":"/a/b"}])",
     "parse: Operation 1: A value cannot be moved into itself."},
    {"no_operation",
     "{}",
     R"([{"op":"merge","path":"/a"}])",
     "parse: Operation 1: \"merge\" is not an operation: use add, remove, replace, move, copy or "
     "test."},
    {"no_value",
     "{}",
     R"([{"op":"add","path":"/a"}])",
     R"(parse: Operation 1: It has no member "value".)"},
    {"bad_pointer",
     "{}",
     R"([{"op":"remove","path":"a"}])",
     R"(parse: Operation 1: The pointer "a" does not begin with a slash.)"},
    {"bad_tilde",
     "{}",
     R"([{"op":"remove","path":"/a~2"}])",
     R"(parse: Operation 1: In the pointer part "a~2": ~ must be followed by 0 or 1.)"},
    {"not_an_array",
     "{}",
     R"({"op":"remove","path":"/a"})",
     "parse: A patch must be an array of operations."},
    {"not_json",
     "{}",
     "[{]",
     "parse: The patch is not JSON. At position 3: expected a key in quotes."},
    {"document_not_json",
     "hello",
     "[]",
     "apply: The document is not JSON. At position 1: expected a value."},
};

class PatchTable : public testing::TestWithParam<PatchCase> {};

TEST_P(PatchTable, GivesWhatItShould) {
  EXPECT_EQ(patched(GetParam().document, GetParam().patch), GetParam().result);
}

constexpr auto name_of_case = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Appendix, PatchTable, testing::ValuesIn(kAppendix), name_of_case);
INSTANTIATE_TEST_SUITE_P(Own, PatchTable, testing::ValuesIn(kOwnCases), name_of_case);

TEST(JsonPatch, RefusesWhatGrowsByDoubling) {
  std::string patch = R"([{"op":"add","path":"/a","value":"0123456789012345678901234567890"})";
  for (int i = 0; i < 100; ++i)
    patch += fmt::format(R"(,{{"op":"copy","from":"","path":"/k{}"}})", i);
  EXPECT_THAT(patched("{}", patch + "]"), HasSubstr("would grow beyond"));
}

TEST(JsonPatch, RefusesWhatGrowsDeep) {
  std::string patch = "[";
  std::string path;
  for (int i = 0; i < 64; ++i) {
    path += "/a";
    patch += fmt::format(R"({{"op":"add","path":"{}","value":{{}}}},)", path);
  }
  patch += R"({"op":"copy","from":"/a","path":"/b"},)";
  patch += fmt::format(R"({{"op":"move","from":"/b","path":"{}"}},)", path);
  patch += fmt::format(R"({{"op":"copy","from":"","path":"{}"}}])", path);
  EXPECT_THAT(patched("{}", patch), HasSubstr("more than 128 levels deep"));
}

TEST(JsonPatch, LargeReplacedByLargeFits) {
  const std::string large(700'000, 'x');
  const std::string patch = fmt::format(R"([{{"op":"replace","path":"/a","value":"{}y"}}])", large);
  EXPECT_EQ(patched(fmt::format(R"({{"a":"{}"}})", large), patch),
            fmt::format(R"({{"a":"{}y"}})", large));
}

TEST(JsonPatch, RefusesEndlessWork) {
  std::string document = "[[0";
  for (int i = 0; i < 400'000; ++i) document += ",1";
  std::string patch = "[";
  for (int i = 0; i < 250; ++i) patch += R"({"op":"move","from":"/0","path":"/1"},)";
  patch.back() = ']';
  EXPECT_THAT(patched(document + "],2]", patch), HasSubstr("too expensive"));
}

TEST(JsonPatch, RefusesTooManyOperationsAndTooDeepAndTooLarge) {
  std::string many = "[";
  for (int i = 0; i < 257; ++i) many += R"({"op":"remove","path":"/a"},)";
  many.back() = ']';
  EXPECT_THAT(patched("{}", many), HasSubstr("at most 256 operations"));
  EXPECT_THAT(patched(std::string(129, '[') + std::string(129, ']'), "[]"),
              HasSubstr("more than 128 levels deep"));
  EXPECT_EQ(patched(std::string(128, '[') + std::string(128, ']'), "[]").size(), 256u);
  EXPECT_THAT(patched(std::string(JsonPatch::kDocumentBytesMax + 1, ' '), "[]"),
              HasSubstr("more than 1048576 bytes"));
}

TEST(JsonScan, TellsJsonFromWhatIsNot) {
  for (const char* good :
       {"0", "-0.5e-7", " [ ] ", R"({"a":[{},null,true,false,"\ud800"]})", "\"\""})
    EXPECT_TRUE(check_json(good, 8)) << good;
  for (const char* bad :
       {"",           " ",     "01",    "-",       "1.",          "1e",      ".5",
        "+1",         "nul",   "truee", "[1,]",    "[,1]",        "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{a:1}", "\"",    "\"\\x\"", "\"\\u12g4\"", "\"\n\"",  "\"\xff\"",
        "[1}",        "{]",    "1 2",   "[1",      "[]]",         "\"\\"})
    EXPECT_FALSE(check_json(bad, 8)) << bad;
}

TEST(JsonScan, ReadsAgainWhatItEscaped) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int n = 0; n < 20; ++n) text += static_cast<char>(random() % 128);
    const std::string quoted = escape_json(text);
    EXPECT_TRUE(check_json(quoted, 0));
    EXPECT_EQ(unescape_json(quoted), text);
  }
}

}  // namespace
}  // namespace redrive::triage
