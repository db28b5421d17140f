#include "net/wire/sensitive.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace redrive::wire {
namespace {

struct Value {
  std::string_view type;
  std::optional<std::string_view> text;
  std::optional<Blob> bytes;
};
consteval auto shape_of(Value*) {
  return shape(optional("Type", &Value::type),
               optional("Text", &Value::text).sensitive(),
               optional("Bytes", &Value::bytes).sensitive());
}

struct Letter {
  std::string_view id;
  std::string_view body;
  std::vector<std::string_view> notes;
  std::vector<std::pair<std::string_view, Value>> values;
  std::vector<std::pair<std::string_view, std::string_view>> variables;
  std::optional<Value> seal;
};
consteval auto shape_of(Letter*) {
  return shape(optional("Id", &Letter::id),
               optional("Body", &Letter::body).sensitive(),
               optional("Notes", &Letter::notes).each("Note").sensitive(),
               optional("Values", &Letter::values).each("Value"),
               optional("Variables", &Letter::variables).each("Variable").sensitive(),
               optional("Seal", &Letter::seal));
}

struct Plain {
  std::string_view id;
};
consteval auto shape_of(Plain*) {
  return shape(optional("Id", &Plain::id));
}

TEST(Sensitive, RewritesMarkedMembersWhereverTheyAre) {
  Letter letter{.id = "i",
                .body = "b",
                .notes = {"n"},
                .values = {{"k", {.type = "t", .text = "v", .bytes = Blob{"y"}}}},
                .variables = {{"name", "w"}},
                .seal = Value{.type = "t", .text = "s", .bytes = {}}};
  std::deque<std::string> texts;
  rewrite_sensitive(letter, [&](std::string_view name, std::string_view text) -> std::string_view {
    return texts.emplace_back(std::string(name) + "!" + std::string(text));
  });
  EXPECT_EQ(letter.id, "i");
  EXPECT_EQ(letter.body, "!b");
  EXPECT_EQ(letter.notes[0], "!n");
  EXPECT_EQ(letter.values[0].second.type, "t");
  EXPECT_EQ(letter.values[0].second.text, "k!v");
  EXPECT_EQ(letter.values[0].second.bytes->bytes, "k!y");
  EXPECT_EQ(letter.variables[0].second, "name!w");
  EXPECT_EQ(letter.seal->text, "!s");
  EXPECT_EQ(letter.seal->bytes, std::nullopt);
}

TEST(Sensitive, KnowsWhichDocumentsHaveAny) {
  EXPECT_TRUE(has_sensitive(kRecord<Letter>));
  EXPECT_TRUE(has_sensitive(kRecord<Value>));
  EXPECT_FALSE(has_sensitive(kRecord<Plain>));
}

}  // namespace
}  // namespace redrive::wire
