#include "core/queue/hash_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace redrive::queue {
namespace {

TEST(HashIndex, TellsNumbersOfOneHashApart) {
  HashIndex index;
  const auto find = [&](std::uint32_t number) {
    return index.find(5, [&](std::uint32_t found) { return found == number; });
  };
  EXPECT_EQ(find(1), 0u);
  index.add(1, 5);
  index.add(2, 5);
  EXPECT_EQ(find(1), 1u);
  EXPECT_EQ(find(2), 2u);
  EXPECT_EQ(find(3), 0u);
  index.erase(1, 5);
  EXPECT_EQ(find(1), 0u);
  EXPECT_EQ(find(2), 2u);
  EXPECT_EQ(index.size(), 1u);
  index.clear();
  EXPECT_EQ(find(2), 0u);
  EXPECT_EQ(index.size(), 0u);
}

// As thousands come and go it agrees with a map, though many of them want the same places.
TEST(HashIndex, FindsEachOfMany) {
  std::mt19937 random(7);
  HashIndex index;
  std::map<std::uint32_t, std::uint32_t> hashes;
  for (int step = 0; step < 50'000; ++step) {
    const std::uint32_t number = 1 + random() % 3000;
    if (const auto found = hashes.find(number); found != hashes.end()) {
      index.erase(number, found->second);
      hashes.erase(found);
    } else {
      hashes[number] = random() % 500;
      index.add(number, hashes[number]);
    }
  }
  EXPECT_EQ(index.size(), hashes.size());
  for (std::uint32_t number = 1; number <= 3000; ++number) {
    const auto found = hashes.find(number);
    const std::uint32_t hash = found == hashes.end() ? 0 : found->second;
    const auto is_it = [&](std::uint32_t other) { return other == number; };
    EXPECT_EQ(index.find(hash, is_it), found == hashes.end() ? 0 : number);
  }
}

}  // namespace
}  // namespace redrive::queue
