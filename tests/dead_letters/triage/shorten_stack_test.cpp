#include "dead_letters/triage/shorten_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dead_letters/triage/stack_trace.h"

namespace redrive::triage {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string java_frames(int error, int count) {
  std::string frames;
  for (int i = 0; i < count; ++i)
    frames +=
        "\tat com.acme.E" + std::to_string(error) + ".call" + std::to_string(i) + "(A.java:1)\n";
  return frames;
}

TEST(ShortenStack, LeavesAloneWhatFits) {
  const std::string text = "E: x\n    at f (a.js:1:2)\nCaused by: F: y";
  EXPECT_EQ(shorten_stack(text, text.size()), text);
}

TEST(ShortenStack, EveryErrorOfAChainKeepsItsInnermostFrames) {
  std::string text = "com.acme.Outer: x\n" + java_frames(0, 100);
  for (int error = 1; error < 9; ++error)
    text += "Caused by: com.acme.E" + std::to_string(error) + ": y\n" + java_frames(error, 60);
  const std::string shorter = shorten_stack(text, 4096);
  EXPECT_LE(shorter.size(), 4096u);
  EXPECT_THAT(shorter, StartsWith("com.acme.Outer: x\n\tat com.acme.E0.call0("));
  for (const char* kept : {"Caused by: com.acme.E8: y\n\tat com.acme.E8.call0(",
                           "Caused by: com.acme.E4: y\n\tat com.acme.E4.call0("})
    EXPECT_THAT(shorter, HasSubstr(kept));
  EXPECT_THAT(shorter, Not(HasSubstr("com.acme.E3: y")));
  EXPECT_EQ(parse_stack_trace(shorter).frames.front().function, "com.acme.E8.call0");
}

TEST(ShortenStack, PythonKeepsTheEnd) {
  std::string text = "Traceback (most recent call last):\n";
  for (int i = 0; i < 200; ++i)
    text += "  File \"/var/task/a.py\", line 1, in f" + std::to_string(i) + "\n    call()\n";
  text += "KeyError: 'x'\n";
  const std::string shorter = shorten_stack(text, 4096);
  EXPECT_LE(shorter.size(), 4096u);
  EXPECT_THAT(shorter, StartsWith("Traceback (most recent call last):\n    ...\n  File "));
  EXPECT_THAT(shorter, testing::EndsWith("in f199\n    call()\nKeyError: 'x'"));
  EXPECT_EQ(parse_stack_trace(shorter).frames.front().function, "f199");
}

TEST(ShortenStack, KeepsItsBoundWhateverItReads) {
  for (const char* part : {"x",
                           "\n",
                           "Caused by: ",
                           "Caused by: x\n",
                           "  File \"",
                           "    at f\n",
                           "  File \"a\"\nCaused by: \n",
                           "\xc3\xa4"}) {
    std::string text;
    while (text.size() < 100'000) text += part;
    for (const std::size_t max : {10u, 100u, 4096u})
      EXPECT_LE(shorten_stack(text, max).size(), max + 3) << part;
  }
}

}  // namespace
}  // namespace redrive::triage
