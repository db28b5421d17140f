#include "base/sha256_pair.h"

#include <gtest/gtest.h>

#include <string>

namespace redrive {
namespace {

std::string some_text(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i * 131 + size);
  return text;
}

// Every length around block boundaries, compared with the plain digest.
TEST(Sha256Pair, EqualsOneByOne) {
  for (std::size_t one = 0; one < 200; ++one) {
    for (const std::size_t other : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 1000u}) {
      const std::string a = some_text(one);
      const std::string b = some_text(other);
      Sha256Begun first;
      Sha256Begun second;
      sha256_begin_both(a, first, b, second);
      ASSERT_EQ(first.bytes, second.bytes);
      ASSERT_EQ(sha256_end(first, a), sha256(a)) << one << " beside " << other;
      ASSERT_EQ(sha256_end(second, b), sha256(b)) << other << " beside " << one;
    }
  }
}

// The text may be longer than it was at the beginning.
TEST(Sha256Pair, GoesOnWithALongerText) {
  const std::string a = some_text(100'000);
  const std::string b = some_text(700);
  Sha256Begun first;
  Sha256Begun second;
  sha256_begin_both(a, first, b, second);
  const std::string longer = b + "and the rest";
  EXPECT_EQ(sha256_end(second, longer), sha256(longer));
  EXPECT_EQ(sha256_end(first, a), sha256(a));
}

TEST(Sha256Pair, WithoutABeginningIsThePlainDigest) {
  EXPECT_EQ(sha256_end({}, "abc"), sha256("abc"));
  EXPECT_EQ(sha256_end({}, ""), sha256(""));
}

}  // namespace
}  // namespace redrive
