#include "bench/latencies.h"

#include <gtest/gtest.h>

namespace redrive::bench {
namespace {

TEST(Latencies, SharesAreLatenciesThatHappened) {
  Latencies latencies;
  for (int i = 100; i >= 1; --i) latencies.add(Nanos(i));
  EXPECT_EQ(latencies.within(0.0), Nanos(1));
  EXPECT_EQ(latencies.within(0.5), Nanos(50));
  EXPECT_EQ(latencies.within(0.99), Nanos(99));
  EXPECT_EQ(latencies.within(0.991), Nanos(100));
  EXPECT_EQ(latencies.max(), Nanos(100));
  EXPECT_EQ(latencies.count(), 100u);
}

TEST(Latencies, OneIsEveryShare) {
  Latencies latencies;
  latencies.add(Nanos(7));
  EXPECT_EQ(latencies.within(0.5), Nanos(7));
  EXPECT_EQ(latencies.max(), Nanos(7));
}

TEST(Latencies, NoneIsZero) {
  EXPECT_EQ(Latencies().within(0.99), Nanos::zero());
}

}  // namespace
}  // namespace redrive::bench
