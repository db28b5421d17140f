#include "stack/node.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace redrive::stack {
namespace {

std::string yaml_as_json(std::string_view text) {
  const auto node = read_yaml(text);
  return node ? node->json() : "refused: " + node.error().message;
}

TEST(Yaml, ScalarsAreWhatCloudFormationTakesThemFor) {
  const struct {
    const char* yaml;
    const char* json;
  } cases[] = {
      {"a: 3", R"({"a":3})"},
      {"a: -2.5", R"({"a":-2.5})"},
      {"a: '3'", R"({"a":"3"})"},
      {"a: true", R"({"a":true})"},
      {"a: yes", R"({"a":"yes"})"},
      {"a: ~", R"({"a":null})"},
      {"a:", R"({"a":null})"},
      {"a: 2012-10-17", R"({"a":"2012-10-17"})"},
      {"a: 000000000042", R"({"a":"000000000042"})"},
      {"a: !!str 3", R"({"a":"3"})"},
      {"a: |\n  one\n  two\n", R"({"a":"one\ntwo\n"})"},
      {"[1, {b: c}]", R"([1,{"b":"c"}])"},
      {"", "null"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.yaml);
    EXPECT_EQ(yaml_as_json(each.yaml), each.json);
  }
}

TEST(Yaml, ShortFunctionsAreWrittenOut) {
  const struct {
    const char* yaml;
    const char* json;
  } cases[] = {
      {"!Ref Queue", R"({"Ref":"Queue"})"},
      {"!GetAtt Queue.Arn", R"({"Fn::GetAtt":["Queue","Arn"]})"},
      {"!GetAtt [Queue, Arn]", R"({"Fn::GetAtt":["Queue","Arn"]})"},
      {"!Sub 'a-${B}'", R"({"Fn::Sub":"a-${B}"})"},
      {"!Join ['-', [a, !Ref B]]", R"({"Fn::Join":["-",["a",{"Ref":"B"}]]})"},
      {"!If [C, 1, !Ref AWS::NoValue]", R"({"Fn::If":["C",1,{"Ref":"AWS::NoValue"}]})"},
      {"!Condition C", R"({"Condition":"C"})"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.yaml);
    EXPECT_EQ(yaml_as_json(each.yaml), each.json);
  }
}

TEST(Yaml, AliasesAreCopiedAndMerged) {
  EXPECT_EQ(yaml_as_json("a: &x {k: 1}\nb: *x"), R"({"a":{"k":1},"b":{"k":1}})");
  EXPECT_EQ(yaml_as_json("a: &x {k: 1, l: 2}\nb: {<<: *x, m: 3}"),
            R"({"a":{"k":1,"l":2},"b":{"k":1,"l":2,"m":3}})");
}

// A few lines of aliases could expand to more values than fit in memory.
TEST(Yaml, ABombIsRefused) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = fmt::format("*a{}", i - 1);
    bomb += fmt::format("a{}: &a{} [{}", i, i, before);
    for (int n = 0; n < 9; ++n) bomb += "," + before;
    bomb += "]\n";
  }
  EXPECT_NE(yaml_as_json(bomb).find("too many values"), std::string::npos);
}

TEST(Yaml, WhatIsBrokenNamesItsLine) {
  EXPECT_NE(yaml_as_json("a: 1\nb: [").find("line"), std::string::npos);
  EXPECT_NE(yaml_as_json("a: 1\na: 2").find("line 2: duplicate name a"), std::string::npos);
  EXPECT_NE(yaml_as_json("a: *nobody").find("refused"), std::string::npos);
  EXPECT_NE(yaml_as_json("a: 1\n---\nb: 2").find("found another"), std::string::npos);
  EXPECT_NE(yaml_as_json(std::string(200, '[')).find("refused"), std::string::npos);
}

TEST(Json, GoesInAndOutUnchanged) {
  const std::string text = R"({"a":[1,-2.5,"x\n\"\u0001",true,null],"b":{}})";
  const auto node = read_json(text);
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->json(), text);
  EXPECT_FALSE(read_json("{").has_value());
  EXPECT_FALSE(read_json(std::string(200, '[')).has_value());
}

TEST(Node, MeaningIsNotSpelling) {
  const struct {
    const char* a;
    const char* b;
    bool same;
  } cases[] = {
      {"3", R"("3")", true},
      {"3", "3.0", true},
      {"true", R"("true")", true},
      {R"({"a":1,"b":2})", R"({"b":"2","a":1})", true},
      {R"({"a":1})", R"({"a":1,"b":2})", false},
      {"[1,2]", "[2,1]", false},
      {"null", R"("")", false},
      {R"("a")", R"("b")", false},
      {"{}", "[]", false},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(fmt::format("{} {}", each.a, each.b));
    EXPECT_EQ(read_json(each.a)->means(*read_json(each.b)), each.same);
    EXPECT_EQ(read_json(each.b)->means(*read_json(each.a)), each.same);
  }
}

}  // namespace
}  // namespace redrive::stack
