#include "base/pattern.h"

#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <random>
#include <string>

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

// Reference implementation, one character at a time.
bool match_simply(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return match_simply(pattern.substr(1), text) ||
           (!text.empty() && match_simply(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         match_simply(pattern.substr(1), text.substr(1));
}

TEST(WildcardMatch, FollowsTheRulesWhateverThePattern) {
  std::mt19937 random(5);
  const auto make = [&](std::string_view letters, std::size_t size_max) {
    std::string made;
    for (std::size_t i = random() % (size_max + 1); i > 0; --i) {
      made += letters[random() % letters.size()];
    }
    return made;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string pattern = make("ab?*", 7);
    const std::string text = make("ab", 9);
    EXPECT_EQ(wildcard_match(pattern, text), match_simply(pattern, text))
        << pattern << " against " << text;
  }
}

// Runs with ? longer than a machine word, in texts too long for the plain search.
TEST(WildcardMatch, FindsLongRunsInLongTexts) {
  std::mt19937 random(6);
  for (int i = 0; i < 50; ++i) {
    std::string text;
    for (int k = 0; k < 400; ++k) text += static_cast<char>('a' + random() % 2);
    const std::size_t size = 60 + random() % 150;
    const std::size_t at = random() % (text.size() - size);
    std::string run = text.substr(at, size);
    for (int k = 0; k < 20; ++k) run[random() % run.size()] = '?';
    EXPECT_TRUE(wildcard_match("*" + run + "*", text));
    EXPECT_TRUE(wildcard_match("*" + run + "*" + text.substr(at + size), text));
    EXPECT_FALSE(wildcard_match("*" + run + "c*", text));
    EXPECT_FALSE(wildcard_match("*" + run + "*?" + text.substr(at + size), text));
  }
}

double processor_seconds(const std::function<void()>& work) {
  const std::clock_t before = std::clock();
  work();
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

// Patterns that match a long prefix at every position. A naive search takes minutes.
TEST(WildcardMatch, IsLinearInTheText) {
  const std::string text(1u << 20, 'a');
  const std::string run(4000, 'a');
  EXPECT_LT(processor_seconds([&] {
              EXPECT_FALSE(wildcard_match("*" + run + "b*", text));
              EXPECT_FALSE(wildcard_match("*a*a*a*a*a*a*a*a*a*a*b*", text));
            }),
            10);
  std::string gaps = run.substr(0, 1000) + "b*";
  for (std::size_t i = 10; i < 1000; i += 10) gaps[i] = '?';
  const std::string_view part = std::string_view(text).substr(0, 200'000);
  EXPECT_LT(processor_seconds([&] { EXPECT_FALSE(wildcard_match("*" + gaps, part)); }), 10);
}

TEST(FindText, FindsWhatFindWould) {
  EXPECT_EQ(find_text("abcabd", "abd"), 3u);
  EXPECT_EQ(find_text("abc", ""), 0u);
  EXPECT_EQ(find_text("", "a"), std::string_view::npos);
  EXPECT_EQ(find_text("abc", "abcd"), std::string_view::npos);
  const std::string text(1u << 20, 'a');
  EXPECT_LT(processor_seconds([&] {
              EXPECT_EQ(find_text(text, std::string(500'000, 'a') + "b"), std::string_view::npos);
            }),
            10);
}

}  // namespace
}  // namespace redrive
