#include "cli/term/table.h"

#include <gtest/gtest.h>

#include <algorithm>
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
      {"plain\n\ttext ü", "plain\\n\\ttext ü"},
      {"\x1b[2Jgone", "\\x1b[2Jgone"},
      {"\x07\x7f\r", "\\x07\\x7f\\r"},
      {"invoice\u202Efdp.exe", "invoice\\u202efdp.exe"},
      {"\u200E\u200F\u061C\u2066x\u2069\u2028", "\\u200e\\u200f\\u061c\\u2066x\\u2069\\u2028"},
      {"👩\u200D💻 नमस्ते עברית", "👩\u200D💻 नमस्ते עברית"},
      {"\xf3\xa0\x81\xa1", "\\U000e0061"},
      {"raw \x9b[2J", "raw \\x9b[2J"},
      {"a\xc2\x9b"
       "2J",
       "a\\x9b"
       "2J"},
      {"a\xc2", "a\\xc2"},
  };
  for (const auto& test : cases) EXPECT_EQ(harmless(test.text), test.expected);
}

TEST(Harmless, KeepsTheLinesOfTextsThatHaveThem) {
  EXPECT_EQ(harmless_lines("a\n\tb\r\x1b\u202E"), "a\n\tb\\x0d\\x1b\\u202e");
}

TEST(Harmless, LeavesJsonWhatItIs) {
  EXPECT_EQ(harmless_json("{\"a\":\n\"\u202E\u009b\x7f ü\"}\r\n"),
            "{\"a\":\n\"\\u202e\\u009b\\u007f ü\"}\r\n");
  EXPECT_EQ(harmless_json("\"\xf3\xa0\x81\xa1\""), "\"\\udb40\\udc61\"");
}

TEST_F(TableTest, NoCellLeavesItsLine) {
  Table table({{"NAME"}, {"STATE"}});
  table.add({"orders\nforged  row", paint(colored, Color::red, "dead\x1b[2J")});
  const std::string text = table.text(colored);
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_NE(text.find("orders\\nforged"), std::string::npos) << text;
  EXPECT_NE(text.find("\x1b[31mdead\\x1b[2J\x1b[0m"), std::string::npos) << text;
  const std::string lines = name_value_lines(plain, {{"na\nme", "va\nlue\u202E"}});
  EXPECT_EQ(std::ranges::count(lines, '\n'), 1);
  EXPECT_EQ(lines.find("\u202E"), std::string::npos);
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
