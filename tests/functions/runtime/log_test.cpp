#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functions/runtime/error_document.h"
#include "functions/runtime/invocation_log.h"

namespace redrive::runtime {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(InvocationLog, KeepsBeginningAndEnd) {
  InvocationLog log;
  log.append_line("the beginning");
  for (std::size_t i = 0; i < kLogBytesMax / 10 + 100; ++i) log.append("0123456789");
  log.append("the end");
  log.append_line("REPORT");
  const std::string text = log.take();
  EXPECT_LE(text.size(), kLogBytesMax);
  EXPECT_THAT(text, StartsWith("the beginning\n012"));
  EXPECT_THAT(text, EndsWith("789the end\nREPORT\n"));
  EXPECT_THAT(text, HasSubstr(" bytes omitted ...\n"));
  EXPECT_EQ(log.take(), "");
}

TEST(InvocationLog, ShortOnesAreWhole) {
  InvocationLog log;
  log.append("a\nb");
  log.append_line("c");
  EXPECT_EQ(log.take(), "a\nb\nc\n");
}

TEST(LineSplitter, FindsLinesHoweverTheyCome) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  const auto tell = [&](std::string_view line) { lines.emplace_back(line); };
  for (const char* const piece : {"on", "e\ntwo\n\nthr", "ee"}) splitter.feed(piece, tell);
  EXPECT_THAT(lines, ElementsAre("one", "two", ""));
  splitter.finish(tell);
  EXPECT_EQ(lines.back(), "three");
  for (int i = 0; i < 100; ++i) splitter.feed(std::string(1000, 'x'), tell);
  splitter.feed("\nnext\n", tell);
  EXPECT_EQ(lines[4].size(), 8u << 10) << "what never ends is cut";
  EXPECT_EQ(lines[5], "next");
}

TEST(FunctionRecord, KeepsTheLatestLines) {
  FunctionRecord record;
  for (int i = 0; i < 10'000; ++i) record.add_line("id", std::to_string(i));
  const auto lines = record.lines_after(0, 100'000);
  ASSERT_EQ(lines.size(), 4096u);
  EXPECT_EQ(lines.back().text, "9999");
  EXPECT_EQ(lines.back().sequence, 10'000u);
  EXPECT_EQ(record.lines_after(9'998, 100).size(), 2u);
  EXPECT_TRUE(record.lines_after(10'000, 100).empty());
}

TEST(ErrorDocument, IsReadInEveryDialect) {
  const Outcome python = failed_with_document(
      R"({"errorMessage":"m","errorType":"E","requestId":"","stackTrace":["  File a\n    x\n","  File b\n"]})",
      "");
  EXPECT_EQ(python.stack, "  File a\n    x\n  File b");
  const Outcome node = failed_with_document(
      R"({"errorType":"E","errorMessage":"m","trace":["E: m","    at f"]})", "");
  EXPECT_EQ(node.stack, "E: m\n    at f");
  const Outcome other = failed_with_document("words", "Runtime.Odd");
  EXPECT_EQ(other.error_type, "Runtime.Odd");
  EXPECT_EQ(other.payload, "words");
  EXPECT_EQ(failed_with_document("{}", "").error_type, "Runtime.Unknown");
}

TEST(ErrorDocument, IsAlwaysJson) {
  const std::string document = error_document({.type = "T\"", .message = "\xff\n\x01 ü"});
  EXPECT_TRUE(is_json(document)) << document;
  EXPECT_EQ(failed_with_document(document, "").error_type, "T\"");
}

}  // namespace
}  // namespace redrive::runtime
