#include "cli/client/help_format.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/client/verb.h"

namespace redrive::cli {
namespace {

TEST(Wrapped, BreaksAtSpaces) {
  EXPECT_EQ(wrapped("", 10), "");
  EXPECT_EQ(wrapped("one two", 10), "one two");
  EXPECT_EQ(wrapped("one two six", 7), "one two\nsix");
  EXPECT_EQ(wrapped("one unbreakable word", 5), "one\nunbreakable\nword");
}

TEST(ValueLabel, HidesChecksAndKeepsGivenNames) {
  EXPECT_EQ(value_label("TEXT"), "TEXT");
  EXPECT_EQ(value_label("INT:INT in [1 - 1000000]"), "INT");
  EXPECT_EQ(value_label("FLOAT:POSITIVE"), "FLOAT");
  EXPECT_EQ(value_label("TEXT:{on,off}"), "{on,off}");
  EXPECT_EQ(value_label("ADDR:PORT"), "ADDR:PORT");
}

// No line of a help text is wider than a terminal of 80 columns.
TEST(HelpFormat, FitsEightyColumns) {
  Program program("redrive", "A program.", "1");
  std::int32_t number = 0;
  Verb verb =
      program.root().verb("drain", std::string(12, 'x') + " takes quite a lot of words to explain");
  verb.option("--percent", number, "Halt when more than this percentage of all the messages fails");
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"--help"}, std::vector<std::string>{"drain", "--help"}}) {
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(program.run(line, out, err), 0) << err.str();
    std::istringstream lines(out.str());
    for (std::string text; std::getline(lines, text);) EXPECT_LE(text.size(), 80u) << text;
  }
}

}  // namespace
}  // namespace redrive::cli
