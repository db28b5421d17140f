#include "core/queue/mailbox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/core/queue/world.h"

// The order in which a queue gives out its messages: standard and fair queues, ages and timers.
// FIFO queues have their own file.

namespace redrive::queue {
namespace {

TEST(StandardQueue, GivesMessagesInTheOrderOfSending) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 5; ++i) world.send(queue);
  EXPECT_EQ(world.receive(queue, {.max = 2}), (Keys{1, 2}));
  EXPECT_EQ(world.receive_all(queue), (Keys{3, 4, 5}));
  EXPECT_EQ(world.receive_all(queue), Keys{});
}

TEST(StandardQueue, AMessageThatComesBackIsAheadOfNewerOnes) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 3; ++i) world.send(queue);
  EXPECT_EQ(world.receive(queue, {.visibility = seconds(10)}), Keys{1});
  world.pass(seconds(10));
  EXPECT_EQ(world.receive_all(queue), (Keys{1, 2, 3}));
}

TEST(StandardQueue, ThoseThatComeBackStandInTheOrderOfComingBack) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 4; ++i) world.send(queue);
  world.receive(queue, {.visibility = seconds(20)});
  world.receive(queue, {.visibility = seconds(10)});
  world.pass(seconds(20));
  EXPECT_EQ(world.walk(queue), (Keys{2, 1, 3, 4}));
}

// A poisonous message must not keep everything else waiting.
TEST(StandardQueue, TheThirdReturnGoesToTheBack) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 3; ++i) world.send(queue);
  for (int returns = 1; returns <= 2; ++returns) {
    EXPECT_EQ(world.receive(queue, {.visibility = seconds(1)}), Keys{1});
    world.pass(seconds(1));
    EXPECT_EQ(world.walk(queue), (Keys{1, 2, 3})) << returns;
  }
  EXPECT_EQ(world.receive(queue, {.visibility = seconds(1)}), Keys{1});
  world.pass(seconds(1));
  EXPECT_EQ(world.walk(queue), (Keys{2, 3, 1}));
}

TEST(StandardQueue, ADelayedMessageWaitsItsTime) {
  World world;
  Queue& queue = world.create("orders");
  world.send(queue, {.delay = seconds(10)});
  world.send(queue);
  EXPECT_EQ(world.counts(queue), (World::Counts{1, 0, 1}));
  EXPECT_EQ(world.walk(queue), Keys{2});
  world.pass(seconds(10) - Duration(1));
  EXPECT_EQ(world.walk(queue), Keys{2});
  world.pass(Duration(1));
  EXPECT_EQ(world.walk(queue), (Keys{2, 1}));
  EXPECT_EQ(world.counts(queue), (World::Counts{2, 0, 0}));
}

TEST(StandardQueue, AReceiveWithoutTimeoutLeavesTheMessageVisible) {
  World world;
  Queue& queue = world.create("orders");
  world.send(queue);
  for (std::uint32_t count = 1; count <= 5; ++count) {
    EXPECT_EQ(world.receive(queue, {.visibility = seconds(0)}), Keys{1});
    EXPECT_EQ(world.message(1).receive_count, count);
  }
  EXPECT_EQ(world.counts(queue), (World::Counts{1, 0, 0}));
}

TEST(Mailbox, NamesTheNextMomentSomethingBecomesVisible) {
  World world;
  Queue& queue = world.create("orders");
  const auto next = [&] { return world.state.mailbox(queue).next_visible_at(); };
  EXPECT_EQ(next(), kNever);
  world.send(queue, {.delay = seconds(30)});
  world.send(queue, {.delay = seconds(10)});
  world.send(queue, {.delay = seconds(20)});
  EXPECT_EQ(next(), world.stamp.now + seconds(10));
  world.pass(seconds(15));
  EXPECT_EQ(world.walk(queue), Keys{2});
  EXPECT_EQ(next(), world.stamp.now + seconds(5));
  world.forget(queue, 3);
  EXPECT_EQ(next(), world.stamp.now + seconds(15));
}

// Dead letters keep their age and so come in late; expiry still takes the oldest first.
TEST(Mailbox, KeepsTheAgesOfLateComers) {
  World world;
  Queue& dead = world.create("dead");
  QueueSettings settings;
  settings.redrive = RedrivePolicy{dead.identity.arn(), 1};
  Queue& queue = world.create("orders", settings);
  for (int i = 0; i < 3; ++i) {
    world.send(queue);  // 1, 2, 3, one second apart.
    world.pass(seconds(1));
  }
  world.send(dead);  // 4: younger than all of them.
  EXPECT_EQ(world.receive(queue, {.max = 10, .visibility = seconds(0)}), (Keys{1, 2, 3}));
  EXPECT_EQ(world.receive_all(queue), Keys{});  // All three are dead letters now.
  ASSERT_EQ(world.counts(dead).visible, 4u);

  const Timestamp first_sent(1'000'000);
  const Mailbox& box = world.state.mailbox(dead);
  EXPECT_EQ(box.oldest_until(first_sent - Duration(1)), kNoSlot);
  for (const std::uint64_t expected : {1, 2, 3, 4}) {
    const Slot oldest = box.oldest();
    ASSERT_NE(oldest, kNoSlot);
    EXPECT_EQ(number(world.state.messages()[oldest].key), expected);
    EXPECT_EQ(box.oldest_until(world.state.messages()[oldest].sent_at), oldest);
    world.forget(dead, expected);
  }
  EXPECT_EQ(box.oldest(), kNoSlot);
}

TEST(Mailbox, TornDownItGivesOutEveryMessageOnce) {
  MessageTable table;
  Mailbox box(table, 0, Mailbox::Kind::standard, QueueKey::none);
  std::set<Slot> expected;
  for (const std::int64_t sent : {50, 10, 60, 20, 70, 30}) {  // Half of them out of order.
    const Slot slot = table.insert(static_cast<MessageKey>(sent));
    table[slot].sent_at = Timestamp(sent);
    box.enter(slot, "");
    expected.insert(slot);
  }
  std::set<Slot> taken;
  for (Slot slot = box.take_any(); slot != kNoSlot; slot = box.take_any()) {
    EXPECT_TRUE(taken.insert(slot).second);
  }
  EXPECT_EQ(taken, expected);
}

// ---- Fair queues: MessageGroupId names a tenant.

TEST(FairQueue, WithoutNoiseTheOldestComesFirst) {
  World world;
  Queue& queue = world.create("orders");
  for (const char* tenant : {"a", "", "b", "a", "", "b"}) world.send(queue, {.group = tenant});
  EXPECT_EQ(world.walk(queue), (Keys{1, 2, 3, 4, 5, 6}));
}

TEST(FairQueue, AGroupKeepsNobodyOut) {
  World world;
  Queue& queue = world.create("orders");
  world.send(queue, {.group = "a"});
  world.send(queue, {.group = "a"});
  EXPECT_EQ(world.receive(queue), Keys{1});
  EXPECT_EQ(world.receive(queue), Keys{2});
}

// Noisy: at least 30 messages and more than a tenth of all that are in flight.
TEST(FairQueue, QuietTenantsComeBeforeANoisyOne) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 40; ++i) world.send(queue, {.group = "noisy"});
  for (int i = 0; i < 3; ++i) world.receive_all(queue);  // 1..30 are in flight.
  world.send(queue, {.group = "quiet"});                 // 41
  world.send(queue);                                     // 42
  world.send(queue, {.group = "quiet"});                 // 43
  EXPECT_EQ(world.receive(queue, {.max = 5}), (Keys{41, 42, 43, 31, 32}));
}

TEST(FairQueue, TwentyNineInFlightAreNotNoisy) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 40; ++i) world.send(queue, {.group = "busy"});
  world.receive_all(queue);
  world.receive_all(queue);
  world.receive(queue, {.max = 9});  // 29 in flight.
  world.send(queue, {.group = "quiet"});
  // The 30th makes it noisy within the same receive.
  EXPECT_EQ(world.receive(queue, {.max = 3}), (Keys{30, 41, 31}));
}

TEST(FairQueue, ATenthOfAllInFlightIsNotNoisy) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 300; ++i) world.send(queue);
  for (int i = 0; i < 30; ++i) world.receive_all(queue);
  for (int i = 0; i < 40; ++i) world.send(queue, {.group = "busy"});  // 301..340
  for (int i = 0; i < 3; ++i) world.receive_all(queue);  // 30 of 330 in flight: less than a tenth.
  world.send(queue, {.group = "quiet"});                 // 341
  EXPECT_EQ(world.receive(queue, {.max = 3}), (Keys{331, 332, 333}));
}

TEST(FairQueue, ExactlyATenthIsNotNoisy) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 270; ++i) world.send(queue);
  for (int i = 0; i < 27; ++i) world.receive_all(queue);
  for (int i = 0; i < 31; ++i) world.send(queue, {.group = "busy"});  // 271..301
  for (int i = 0; i < 3; ++i) world.receive_all(queue);               // 30 of 300 in flight.
  const Mailbox& box = world.state.mailbox(queue);
  EXPECT_EQ(box.noisy_groups().groups, 0u);
  world.send(queue, {.group = "quiet"});  // 302
  EXPECT_EQ(world.receive(queue), Keys{301});
  EXPECT_EQ(box.noisy_groups().groups, 1u);  // 31 of 301.
}

TEST(FairQueue, AmongNoisyTenantsTheOneThatHoldsLessComesFirst) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 60; ++i) world.send(queue, {.group = "a"});  // 1..60
  for (int i = 0; i < 5; ++i) world.receive_all(queue);            // 50 of them in flight.
  for (int i = 0; i < 40; ++i) world.send(queue, {.group = "b"});  // 61..100
  for (int i = 0; i < 3; ++i) world.receive_all(queue);            // 30 of them: quiet till now.
  EXPECT_EQ(world.receive(queue, {.max = 2}), (Keys{91, 92}));
}

TEST(FairQueue, NoisyTenantsAndWhatTheyHoldAreCounted) {
  World world;
  Queue& queue = world.create("orders");
  const Mailbox& box = world.state.mailbox(queue);
  for (int i = 0; i < 35; ++i) world.send(queue, {.group = "noisy"});  // 1..35
  world.send(queue, {.group = "noisy", .delay = seconds(60)});
  world.send(queue, {.group = "quiet", .delay = seconds(60)});
  for (int i = 0; i < 2; ++i) world.receive_all(queue);
  world.receive(queue, {.max = 9});
  EXPECT_EQ(box.noisy_groups().groups, 0u);  // 29 in flight.
  world.receive(queue);
  world.send(queue, {.group = "quiet"});  // 38
  const Mailbox::NoisyGroups noisy = box.noisy_groups();
  EXPECT_EQ(noisy.groups, 1u);
  EXPECT_EQ(noisy.visible, 5u);
  EXPECT_EQ(noisy.in_flight, 30u);
  EXPECT_EQ(noisy.delayed, 1u);
  EXPECT_EQ(static_cast<std::uint64_t>(world.state.messages()[box.first_quiet()].key), 38u);
  world.forget(queue, 1);  // One of those in flight: it stays noisy while it has a backlog.
  EXPECT_EQ(box.noisy_groups().groups, 1u);
  world.pass(seconds(60));  // All come back, and the delays end.
  world.state.advance(queue, world.stamp.now);
  EXPECT_EQ(box.noisy_groups().groups, 1u);
  EXPECT_EQ(box.visible(), 37u);
  world.pass(seconds(241));  // Five minutes without a send.
  world.state.advance(queue, world.stamp.now);
  EXPECT_EQ(box.noisy_groups().groups, 0u);
}

TEST(FairQueue, ATenantWhoseMessagesAreGoneIsForgotten) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 100; ++i) {
    const std::string tenant = "tenant " + std::to_string(i);
    world.send(queue, {.group = tenant});
  }
  EXPECT_EQ(world.state.mailbox(queue).groups(), 100u);
  for (std::uint64_t key = 1; key <= 100; ++key) world.forget(queue, key);
  EXPECT_EQ(world.state.mailbox(queue).groups(), 0u);
  world.send(queue, {.group = "again"});
  EXPECT_EQ(world.walk(queue), Keys{101});
}

// ---- Random traffic against a slow model: what is visible, in flight and delayed, and until when.

struct Model {
  struct Entry {
    Timestamp visible_at;
    bool received = false;
  };
  std::map<std::uint64_t, Entry> entries;

  World::Counts counts(Timestamp now) const {
    World::Counts counts{};
    for (const auto& [key, entry] : entries) {
      if (entry.visible_at <= now) {
        ++counts.visible;
      } else {
        ++(entry.received ? counts.in_flight : counts.delayed);
      }
    }
    return counts;
  }
};

class RandomTraffic : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(RandomTraffic, AgreesWithASlowModel) {
  const auto [seed, fifo] = GetParam();
  std::mt19937 chance(static_cast<unsigned>(seed));
  World world;
  Queue& queue = world.create("orders", fifo ? fifo_settings() : QueueSettings{});
  Model model;
  const auto any_key = [&] {
    auto at = model.entries.begin();
    std::advance(at, chance() % model.entries.size());
    return at->first;
  };
  for (int step = 0; step < 2'000; ++step) {
    const unsigned dice = chance() % 10;
    if (dice < 4) {
      const std::string group = std::string(1, static_cast<char>('a' + chance() % 5));
      const seconds delay(fifo || chance() % 4 != 0 ? 0 : chance() % 20);
      world.send(queue, {.group = fifo || chance() % 2 == 0 ? group : "", .delay = delay});
      model.entries[number(world.state.last_key())] = {world.stamp.now + delay, false};
    } else if (dice < 7) {
      const seconds timeout(chance() % 20);
      for (const std::uint64_t key :
           world.receive(queue, {.max = 1 + chance() % 10, .visibility = timeout})) {
        ASSERT_TRUE(model.entries.contains(key));
        ASSERT_LE(model.entries[key].visible_at, world.stamp.now) << key << " was hidden";
        model.entries[key] = {world.stamp.now + timeout, true};
      }
    } else if (dice == 7 && !model.entries.empty()) {
      const std::uint64_t key = any_key();
      world.forget(queue, key);
      model.entries.erase(key);
    } else if (dice == 8 && !model.entries.empty()) {
      const std::uint64_t key = any_key();
      const seconds timeout(chance() % 3 == 0 ? 0 : chance() % 20);
      if (world.change_visibility(queue, world.handle(queue, key), timeout)) {
        model.entries[key].visible_at = world.stamp.now + timeout;
      }
    } else {
      world.pass(Duration(chance() % 5'000));
    }
    ASSERT_EQ(world.counts(queue), model.counts(world.stamp.now)) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraffic,
                         testing::Combine(testing::Range(1, 11), testing::Bool()));

// Keys of the pages of a queue, `max` messages each, gone through to the end.
std::vector<Keys> pages_of(const World& world, const Queue& queue, std::size_t max) {
  const Mailbox& box = world.state.mailbox(queue);
  std::vector<Keys> pages;
  Mailbox::AgeMark after{Timestamp(INT64_MIN)};
  while (true) {
    Keys keys;
    for (const Slot slot : box.page(after, max)) {
      keys.push_back(number(world.state.messages()[slot].key));
      after = box.age_of(slot);
    }
    if (keys.empty()) return pages;
    pages.push_back(keys);
  }
}

TEST(Pages, GoFromTheOldestToTheYoungestInAnyPhase) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 5; ++i) world.send(queue);
  world.receive(queue, {.max = 2, .visibility = seconds(10)});
  EXPECT_EQ(pages_of(world, queue, 2), (std::vector<Keys>{{1, 2}, {3, 4}, {5}}));
  EXPECT_EQ(pages_of(world, queue, 10), (std::vector<Keys>{{1, 2, 3, 4, 5}}));
}

TEST(Pages, GoOnWhenTheLastMessageOfAPageIsGone) {
  World world;
  Queue& queue = world.create("orders");
  for (int i = 0; i < 4; ++i) world.send(queue);
  const Mailbox& box = world.state.mailbox(queue);
  const Mailbox::AgeMark after = box.age_of(box.page({Timestamp(INT64_MIN)}, 2).back());
  world.receive(queue, {.max = 2, .visibility = seconds(10)});
  world.apply(MessageDeleted{queue.key, static_cast<MessageKey>(2)});
  const auto rest = box.page(after, 10);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(number(world.state.messages()[rest[0]].key), 3u);
}

}  // namespace
}  // namespace redrive::queue
