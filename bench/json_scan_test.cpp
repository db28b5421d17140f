#include "bench/json_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace redrive::bench {
namespace {

TEST(JsonTexts, FindsEveryValueOfAMember) {
  struct Case {
    const char* name;
    std::string_view document;
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {"none", R"({"Messages":[]})", {}},
      {"several", R"({"Messages":[{"Body":"a"},{"Body":"b"}]})", {"a", "b"}},
      {"spaces", "{\"Body\" : \"a\"}", {"a"}},
      {"empty", R"({"Body":""})", {""}},
      {"escapes stay", R"({"Body":"say \"hi\"\\","Id":"x"})", {R"(say \"hi\"\\)"}},
      {"other members ending alike", R"({"MD5OfBody":"m","Body":"a"})", {"a"}},
      {"the name as a value", R"({"Id":"Body","Body":"a"})", {"a"}},
      {"not a text", R"({"Body":7,"Body":"a"})", {"a"}},
      {"torn", R"({"Body":"a","Body":"b)", {"a"}},
      {"torn at an escape", R"({"Body":"b\)", {}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    JsonTexts texts(each.document, "\"Body\"");
    std::vector<std::string> found;
    while (const auto text = texts.next()) found.emplace_back(*text);
    EXPECT_EQ(found, each.expected);
  }
}

}  // namespace
}  // namespace redrive::bench
