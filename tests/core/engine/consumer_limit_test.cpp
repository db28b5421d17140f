#include "core/engine/consumer_limit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

namespace redrive::engine {
namespace {

std::string variant(std::size_t number) {
  return fmt::format("key 10.0.0.7 app=v{}", number);
}

// A client that makes up a User-Agent for each receive does not fill the table of names.
TEST(ConsumerLimit, AClientShowsSoManyNamesADay) {
  ConsumerLimit limit;
  const Timestamp now(1'000'000);
  for (std::size_t i = 0; i < ConsumerLimit::kVariantsPerDay; ++i)
    EXPECT_EQ(limit.choose(variant(i), now), variant(i));
  EXPECT_EQ(limit.choose(variant(999), now), "key 10.0.0.7");
  EXPECT_EQ(limit.choose(variant(3), now), variant(3));
  EXPECT_EQ(limit.choose("key 10.0.0.8 app=v1", now), "key 10.0.0.8 app=v1");
  EXPECT_EQ(limit.choose(variant(998), now + std::chrono::hours(25)), variant(998));
}

// Polling an empty queue learns no name, however often.
TEST(ConsumerLimit, AskingAgainChangesNothing) {
  ConsumerLimit limit;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(limit.choose(variant(1), Timestamp(i)), variant(1));
    EXPECT_EQ(limit.choose(variant(2), Timestamp(i)), variant(2));
  }
}

TEST(ConsumerLimit, FunctionsAndPlainNamesAreNotBounded) {
  ConsumerLimit limit;
  for (int i = 0; i < 200; ++i) {
    const std::string function = fmt::format("function:f code={:08x}", i);
    EXPECT_EQ(limit.choose(function, Timestamp(1)), function);
    const std::string plain = fmt::format("key 10.0.1.{}", i);
    EXPECT_EQ(limit.choose(plain, Timestamp(1)), plain);
  }
}

}  // namespace
}  // namespace redrive::engine
