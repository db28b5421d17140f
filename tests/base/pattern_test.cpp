#include "base/pattern.h"

#include <gtest/gtest.h>

namespace redrive {
namespace {

TEST(WildcardMatch, DescribesTheWholeText) {
  struct Case {
    const char* pattern;
    const char* text;
    bool matches;
  };
  const Case cases[] = {
      {"", "", true},
      {"", "a", false},
      {"*", "", true},
      {"*", "anything", true},
      {"orders", "orders", true},
      {"orders", "orders2", false},
      {"orders-*", "orders-", true},
      {"orders-*", "orders-eu", true},
      {"orders-*", "order", false},
      {"*.fifo", "a.fifo", true},
      {"*.fifo", "a.fifo2", false},
      {"a*b*c", "axxbyyc", true},
      {"a*b*c", "axxbyy", false},
      {"a*ab", "aaab", true},
      {"?", "a", true},
      {"?", "", false},
      {"a?c", "abc", true},
      {"**", "x", true},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(wildcard_match(one.pattern, one.text), one.matches)
        << one.pattern << " against " << one.text;
  }
}

TEST(WildcardMatch, TakesNoLongWithManyStars) {
  const std::string text(20'000, 'a');
  EXPECT_FALSE(wildcard_match("*a*a*a*a*a*a*a*a*a*a*b", text));
}

}  // namespace
}  // namespace redrive
