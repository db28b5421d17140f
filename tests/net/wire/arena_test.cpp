#include "net/wire/arena.h"

#include <gtest/gtest.h>

#include <string>

namespace redrive::wire {
namespace {

TEST(Arena, KeepsEveryTextUntilTheReset) {
  Arena arena;
  std::vector<std::string> originals;
  std::vector<std::string_view> copies;
  for (std::size_t i = 0; i < 200; ++i) {
    originals.push_back(std::string(i * 37, static_cast<char>('a' + i % 26)));
    copies.push_back(arena.copy(originals.back()));
  }
  for (std::size_t i = 0; i < originals.size(); ++i) EXPECT_EQ(copies[i], originals[i]);
}

TEST(Arena, ReusesItsMemoryAfterAReset) {
  Arena arena;
  const char* const first = arena.take(100);
  arena.reset();
  EXPECT_EQ(arena.take(100), first);
}

TEST(Arena, KeepsItsLargestBlock) {
  Arena arena;
  arena.take(10);
  const char* const large = arena.take(100'000);
  arena.reset();
  EXPECT_EQ(arena.take(100'000), large);
}

TEST(Arena, CommitsOnlyWhatWasWritten) {
  Arena arena;
  char* const room = arena.reserve(1000);
  arena.commit(3);
  EXPECT_EQ(arena.take(1), room + 3);
}

}  // namespace
}  // namespace redrive::wire
