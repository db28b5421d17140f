#include "cli/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace redrive::cli {
namespace {

struct TableTest : testing::Test {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Terminal plain{.in = in, .out = out, .err = err};
  Terminal colored{.in = in, .out = out, .err = err, .out_is_terminal = true, .colored = true};
};

TEST_F(TableTest, AlignsColumnsAndLeavesNoBlanksAtLineEnds) {
  Table table({{"NAME"}, {"VISIBLE", Table::Align::right}, {"DLQ"}});
  table.add({"orders", "12", "orders-dlq"});
  table.add({"a-rather-long-name", "100000000", ""});
  EXPECT_EQ(table.text(plain),
            "NAME                  VISIBLE  DLQ\n"
            "orders                     12  orders-dlq\n"
            "a-rather-long-name  100000000\n");
}

TEST_F(TableTest, PaintsHeadingsOnlyWhereColoursAreWanted) {
  Table table({{"NAME"}});
  table.add({"x"});
  EXPECT_EQ(table.text(plain), "NAME\nx\n");
  EXPECT_EQ(table.text(colored), "\x1b[1mNAME\x1b[0m\nx\n");
}

TEST_F(TableTest, PutsValuesInOneColumn) {
  EXPECT_EQ(name_value_lines(plain, {{"Name", "orders"}, {"DelaySeconds", "0"}}, 2),
            "  Name          orders\n"
            "  DelaySeconds  0\n");
  EXPECT_EQ(name_value_lines(plain, {}), "");
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  const struct {
    const char* text;
    std::size_t width;
  } cases[] = {
      {"", 0}, {"abc", 3}, {"Grüße", 5}, {"日本", 4}, {"e\u0301", 1}, {"🙂", 2}, {"€", 1}};
  for (const auto& test : cases) {
    SCOPED_TRACE(test.text);
    EXPECT_EQ(display_width(test.text), test.width);
  }
}

TEST(Harmless, DisarmsControlCharacters) {
  const struct {
    std::string_view text;
    std::string_view expected;
  } cases[] = {
      {"plain\n\ttext ü", "plain\n\ttext ü"},
      {"\x1b[2Jgone", "\\x1b[2Jgone"},
      {"\x07\x7f\r", "\\x07\\x7f\\x0d"},
      {"a\xc2\x9b"
       "2J",
       "a\\x9b"
       "2J"},
      {"a\xc2", "a\xc2"},
  };
  for (const auto& test : cases) EXPECT_EQ(harmless(test.text), test.expected);
}

TEST_F(TableTest, TakesOnlyAYesForAYes) {
  const struct {
    const char* typed;
    bool yes;
  } cases[] = {
      {"y\n", true}, {"YES\n", true}, {"n\n", false}, {"\n", false}, {"", false}, {"yep\n", false}};
  for (const auto& test : cases) {
    SCOPED_TRACE(test.typed);
    in.clear();
    in.str(test.typed);
    EXPECT_EQ(confirm(plain, "Sure?"), test.yes);
  }
  EXPECT_TRUE(err.str().starts_with("Sure? [y/N] "));
}

}  // namespace
}  // namespace redrive::cli
