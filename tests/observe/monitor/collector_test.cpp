#include "observe/monitor/collector.h"

#include <gtest/gtest.h>

#include "tests/core/engine/engine_world.h"

namespace redrive::monitor {
namespace {

using metrics::QueueMetric;
using std::chrono::minutes;
using std::chrono::seconds;
using World = engine::WorldOf<ManualClock>;

queue::QueueSettings with_dead_letters(std::uint32_t receives) {
  queue::QueueSettings settings;
  settings.visibility_timeout = seconds(0);
  settings.redrive = {.target_arn = engine::identity_of("dlq").arn(),
                      .receive_count_max = receives};
  return settings;
}

QueueReading reading_of(World& world, const std::string& name) {
  for (const QueueReading& reading : read_queues(world.engine(), Extremes::keep)) {
    if (reading.identity.name == name) return reading;
  }
  ADD_FAILURE() << "there is no queue " << name;
  return {};
}

TEST(QueueReading, CountsEveryStepOnce) {
  World world;
  world.create("dlq");
  world.create("q", with_dead_letters(1));
  world.send("q", "dies");
  EXPECT_EQ(world.receive("q").size(), 1u);
  EXPECT_EQ(world.receive("q").size(), 0u);  // It is dead-lettered.
  world.send("q", "is processed");
  world.receive("q", 1, seconds(30));
  const std::string handle = world.last_handles.at(0);
  const std::vector<std::string_view> handles = {handle, handle};
  ASSERT_TRUE(world.engine().remove(engine::identity_of("q"), handles));
  const QueueReading source = reading_of(world, "q");
  EXPECT_EQ(source.traffic.sent, 2u);
  EXPECT_EQ(source.traffic.received, 2u);
  EXPECT_EQ(source.traffic.empty_receives, 1u);
  EXPECT_EQ(source.traffic.deleted, 2u);  // Deleting a missing message succeeds and counts.
  EXPECT_EQ(source.traffic.dead_lettered_away, 1u);
  EXPECT_EQ(source.visible, 0u);
  const QueueReading dead = reading_of(world, "dlq");
  EXPECT_EQ(dead.traffic.sent, 0u);
  EXPECT_EQ(dead.traffic.dead_lettered, 1u);
  EXPECT_EQ(dead.visible, 1u);
}

// Replayed facts are not counted as traffic.
TEST(QueueReading, BeginsAnewWithTheProcess) {
  World world;
  world.create("q");
  world.send("q", "1");
  world.restart();
  EXPECT_EQ(reading_of(world, "q").traffic.sent, 0u);
  EXPECT_EQ(reading_of(world, "q").visible, 1u);
}

TEST(QueueReading, CountsWhatRetentionTakes) {
  World world;
  queue::QueueSettings settings;
  settings.retention = seconds(60);
  world.create("q", settings);
  world.send("q", "1");
  world.clock.advance(seconds(61));
  EXPECT_EQ(reading_of(world, "q").traffic.expired, 1u);
}

TEST(OldestAge, OfADeadLetterCountsFromTheMove) {
  World world;
  world.create("dlq");
  world.create("q", with_dead_letters(1));
  world.send("q", "dies");
  world.clock.advance(minutes(10));
  EXPECT_EQ(reading_of(world, "q").oldest_age, minutes(10));
  world.receive("q");
  world.receive("q");
  EXPECT_EQ(reading_of(world, "dlq").oldest_age, Duration::zero());
  world.clock.advance(minutes(3));
  EXPECT_EQ(reading_of(world, "dlq").oldest_age, minutes(3));
  EXPECT_EQ(reading_of(world, "q").oldest_age, Duration::zero());
}

TEST(OldestAge, LeavesOutWhatWasReceivedThreeTimes) {
  World world;
  world.create("q");
  world.send("q", "poison");
  world.clock.advance(minutes(10));
  world.send("q", "fresh");
  for (int i = 0; i < 2; ++i) world.receive("q", 1, seconds(0));
  EXPECT_EQ(reading_of(world, "q").oldest_age, minutes(10));
  world.receive("q", 1, seconds(0));
  EXPECT_EQ(reading_of(world, "q").oldest_age, Duration::zero());
}

TEST(GroupsInFlight, AreCountedOnce) {
  World world;
  world.create("q.fifo", engine::fifo_settings());
  world.send("q.fifo", "1");
  world.send("q.fifo", "2");
  EXPECT_EQ(reading_of(world, "q.fifo").groups_in_flight, 0u);
  world.receive("q.fifo", 2, seconds(30));
  EXPECT_EQ(reading_of(world, "q.fifo").groups_in_flight, 1u);
  world.clock.advance(seconds(31));
  EXPECT_EQ(reading_of(world, "q.fifo").groups_in_flight, 0u);
}

// Queues with tenants report those that use too much; others do not.
TEST(Tenants, NoisyOnesAreTakenOut) {
  World world;
  world.create("plain");
  world.create("fair");
  world.send("plain", "1");
  const auto send = [&](std::string_view group) {
    std::string tail;
    store::encode_tail(tail, {.group = group, .body = "x"});
    const queue::Draft draft{.group = group, .tail = tail, .tail_crc = crc32c(tail)};
    ASSERT_TRUE(world.engine().send(engine::identity_of("fair"), std::span(&draft, 1)));
  };
  for (int i = 0; i < 45; ++i) send("loud");
  for (int i = 0; i < 4; ++i) world.receive("fair", 10, seconds(600));
  world.clock.advance(seconds(60));
  send("soft");
  send("");
  world.clock.advance(seconds(5));
  EXPECT_FALSE(reading_of(world, "plain").fair);
  const QueueReading reading = reading_of(world, "fair");
  ASSERT_TRUE(reading.fair);
  EXPECT_EQ(reading.fair->noisy_groups, 1u);
  EXPECT_EQ(reading.fair->visible, 2u);
  EXPECT_EQ(reading.fair->not_visible, 0u);
  EXPECT_EQ(reading.fair->oldest_age, seconds(5));
  EXPECT_EQ(reading.oldest_age, seconds(65));
  EXPECT_EQ(reading.visible, 7u);
}

class CollectorTest : public testing::Test {
 protected:
  std::vector<std::optional<metrics::Bucket>> read(QueueMetric metric, seconds step) {
    const Timestamp now = world_.engine().now();
    return history_.read({metrics::Scope::queue, engine::identity_of("q").arn()},
                         metrics::index(metric),
                         now - minutes(1) + seconds(1),
                         now + seconds(1),
                         step);
  }
  std::int64_t sum(QueueMetric metric) {
    std::int64_t total = 0;
    for (const auto& bucket : read(metric, seconds(1))) total += bucket ? bucket->sum : 0;
    return total;
  }

  World world_;
  metrics::ServerMetrics recorded_;
  metrics::History history_;
  Collector collector_{{.engine = world_.engine(),
                        .recorded = recorded_,
                        .history = history_,
                        .sources = {},
                        .virtual_time = false}};
};

TEST_F(CollectorTest, WritesWhatHasGrownSinceTheLastLook) {
  world_.create("q");
  collector_.observe();
  for (int i = 0; i < 10; ++i) {
    world_.send("q", "1");
    collector_.observe();  // Within the same second: nothing is written, and nothing is lost.
    world_.clock.advance(seconds(1));
    collector_.observe();
  }
  EXPECT_EQ(sum(QueueMetric::sent), 10);
}

TEST_F(CollectorTest, AQueueMadeAnewCountsFromNothing) {
  world_.create("q");
  world_.send("q", "1");
  collector_.observe();
  world_.remove_queue("q");
  world_.clock.advance(seconds(1));
  collector_.observe();
  world_.create("q");
  world_.send("q", "1");
  world_.clock.advance(seconds(1));
  collector_.observe();
  EXPECT_EQ(sum(QueueMetric::sent), 2);
}

TEST_F(CollectorTest, AQueueThatNobodyUsesIsMeasuredForSixHours) {
  world_.create("q");
  collector_.observe();
  world_.clock.advance(std::chrono::hours(5));
  collector_.observe();
  EXPECT_TRUE(read(QueueMetric::visible, seconds(1)).back());
  world_.clock.advance(std::chrono::hours(2));
  collector_.observe();
  EXPECT_FALSE(read(QueueMetric::visible, seconds(1)).back());
  world_.send("q", "1");
  world_.clock.advance(seconds(1));
  collector_.observe();
  EXPECT_TRUE(read(QueueMetric::visible, seconds(1)).back());
}

}  // namespace
}  // namespace redrive::monitor
