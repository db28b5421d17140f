#include "core/queue/tenant_load.h"

#include <gtest/gtest.h>

namespace redrive::queue {
namespace {

constexpr Timestamp kNoon{1'800'000'000'000};
constexpr std::uint32_t kUngrouped = 0;
constexpr std::uint32_t kTenantA = 1;
constexpr std::uint32_t kTenantB = 2;

struct LoadWorld {
  TenantLoad load{0};
  Timestamp now = kNoon;

  void send(std::uint32_t tenant) { load.sent(tenant, now); }
  void hold(std::uint32_t tenant, int count) {
    for (int i = 0; i < count; ++i) load.hold(tenant, now);
  }
  void release(std::uint32_t tenant, int count) {
    for (int i = 0; i < count; ++i) load.release(tenant, now);
  }
  void pass(Duration time) { now = now + time; }
  bool noisy(std::uint32_t tenant) const { return load.is_noisy(tenant, 0, 0, now); }
};

TEST(TenantLoad, IsNoisyWithThirtyInFlightAndMoreThanATenth) {
  LoadWorld world;
  world.send(kTenantA);
  world.hold(kTenantA, 29);
  EXPECT_FALSE(world.noisy(kTenantA));
  world.hold(kTenantA, 1);
  EXPECT_TRUE(world.noisy(kTenantA));
}

TEST(TenantLoad, ExactlyATenthIsNotNoisy) {
  LoadWorld world;
  world.send(kTenantA);
  world.hold(kUngrouped, 270);
  world.hold(kTenantA, 30);
  EXPECT_FALSE(world.noisy(kTenantA));
  world.release(kUngrouped, 1);
  EXPECT_TRUE(world.noisy(kTenantA));
  EXPECT_EQ(world.load.noisy(world.now), (std::vector<std::uint32_t>{kTenantA}));
}

TEST(TenantLoad, CountsWhatTheReceiveInProgressHasPicked) {
  LoadWorld world;
  world.send(kTenantA);
  world.hold(kTenantA, 28);
  EXPECT_FALSE(world.load.is_noisy(kTenantA, 1, 1, world.now));
  EXPECT_TRUE(world.load.is_noisy(kTenantA, 2, 2, world.now));
}

// One slow message at a time is enough, once the queue has worked for half a minute.
TEST(TenantLoad, IsNoisyWithMoreThanATenthOfRecentProcessingTime) {
  LoadWorld world;
  world.send(kTenantA);
  world.send(kTenantB);
  world.hold(kTenantA, 1);
  world.pass(Duration(20'000));
  world.release(kTenantA, 1);
  EXPECT_FALSE(world.noisy(kTenantA)) << "20 s is too little to judge";
  world.hold(kUngrouped, 10);
  world.pass(Duration(2'000));
  world.release(kUngrouped, 10);
  world.hold(kTenantB, 1);
  world.pass(Duration(1'000));
  world.release(kTenantB, 1);
  EXPECT_FALSE(world.noisy(kTenantB)) << "1 s of 41 s";
  world.hold(kTenantA, 1);
  EXPECT_TRUE(world.noisy(kTenantA)) << "20 s of 41 s";
}

TEST(TenantLoad, ProcessingTimeOfMoreThanTwoMinutesAgoDoesNotCount) {
  LoadWorld world;
  world.send(kTenantA);
  world.hold(kTenantA, 1);
  world.pass(Duration(25'000));
  world.release(kTenantA, 1);
  world.pass(Duration(125'000));
  world.send(kTenantA);
  world.hold(kUngrouped, 1);
  world.pass(Duration(31'000));
  world.release(kUngrouped, 1);
  world.hold(kTenantA, 1);
  EXPECT_FALSE(world.noisy(kTenantA));
}

TEST(TenantLoad, StaysNoisyUntilItsBacklogIsEmpty) {
  LoadWorld world;
  world.send(kTenantA);
  world.hold(kTenantA, 30);
  world.release(kTenantA, 30);
  EXPECT_TRUE(world.noisy(kTenantA));
  world.load.backlog_empty(kTenantA);
  EXPECT_FALSE(world.noisy(kTenantA));
}

TEST(TenantLoad, IsQuietAgainAfterFiveMinutesWithoutASend) {
  LoadWorld world;
  world.send(kTenantA);
  world.hold(kTenantA, 30);
  world.pass(Duration(299'999));
  EXPECT_TRUE(world.noisy(kTenantA));
  world.pass(Duration(1));
  EXPECT_FALSE(world.noisy(kTenantA));
  world.send(kTenantA);
  EXPECT_TRUE(world.noisy(kTenantA)) << "it still holds thirty";
}

TEST(TenantLoad, MarksAreBounded) {
  LoadWorld world;
  for (std::uint32_t tenant = 1; tenant <= TenantLoad::kMarkedMax + 1; ++tenant) {
    world.send(tenant);
    world.hold(tenant, 30);
    world.release(tenant, 30);
  }
  EXPECT_EQ(world.load.noisy(world.now).size(), TenantLoad::kMarkedMax);
  EXPECT_FALSE(world.noisy(1)) << "the first one marked is released first";
}

TEST(TenantLoad, AForgottenNumberStartsQuiet) {
  LoadWorld world;
  world.send(kTenantA);
  world.hold(kTenantA, 30);
  world.release(kTenantA, 30);
  world.load.forget(kTenantA);
  world.send(kTenantA);
  EXPECT_FALSE(world.noisy(kTenantA));
}

}  // namespace
}  // namespace redrive::queue
