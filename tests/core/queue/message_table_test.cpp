#include "core/queue/message_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/core/queue/world.h"

namespace redrive::queue {
namespace {

constexpr MessageKey key(std::uint64_t number) {
  return static_cast<MessageKey>(number);
}

// What a waiting message costs in memory. A new field of Message needs a reason.
TEST(MessageTable, AMessageTakes80Bytes) {
  EXPECT_EQ(sizeof(Message), 80u);
}

TEST(MessageTable, FindsWhatWasInsertedAndNothingElse) {
  MessageTable table;
  EXPECT_EQ(table.find(key(1)), kNoSlot);
  const Slot slot = table.insert(key(1));
  EXPECT_EQ(table.find(key(1)), slot);
  EXPECT_EQ(table[slot].key, key(1));
  EXPECT_EQ(table.find(key(2)), kNoSlot);
  table.erase(slot);
  EXPECT_EQ(table.find(key(1)), kNoSlot);
  EXPECT_EQ(table.size(), 0u);
}

// Against a map, through growing and shrinking; slots stay where they are while a message lives.
TEST(MessageTable, AgreesWithAMapUnderChurn) {
  MessageTable table;
  std::map<std::uint64_t, Slot> expected;
  std::mt19937_64 chance(7);
  std::uint64_t last = 0;
  for (int step = 0; step < 60'000; ++step) {
    const bool growing = (step / 10'000) % 2 == 0;
    if (expected.empty() || chance() % 10 < (growing ? 7 : 3)) {
      last += 1 + chance() % 3;
      expected[last] = table.insert(key(last));
    } else {
      auto victim = expected.lower_bound(chance() % (last + 1));
      if (victim == expected.end()) victim = expected.begin();
      table.erase(victim->second);
      EXPECT_EQ(table.find(key(victim->first)), kNoSlot);
      expected.erase(victim);
    }
    if (step % 5'000 != 0) continue;
    ASSERT_EQ(table.size(), expected.size());
    for (const auto& [number, slot] : expected) ASSERT_EQ(table.find(key(number)), slot) << number;
  }
  for (const auto& [number, slot] : expected) ASSERT_EQ(table[slot].key, key(number));
}

// Whichever messages are left of those that were sent, finding one takes a few steps.
TEST(MessageTable, OddPatternsOfKeysKeepTheIndexShort) {
  constexpr std::uint64_t kMessages = 90'000;  // Nearly as many as the index lets in.
  struct Pattern {
    const char* name;
    std::uint64_t run;  // So many in a row,
    std::uint64_t of;   // of so many.
  };
  constexpr Pattern kPatterns[] = {{"all", 1, 1},
                                   {"every other", 1, 2},
                                   {"every tenth", 1, 10},
                                   {"every 16th", 1, 16},
                                   {"every 64th", 1, 64},
                                   {"every 100th", 1, 100},
                                   {"every 1024th", 1, 1024},
                                   {"every 65536th", 1, 65536},
                                   {"batches of ten", 10, 50},
                                   {"long runs", 1000, 3000}};
  for (const Pattern& pattern : kPatterns) {
    SCOPED_TRACE(pattern.name);
    const auto nth = [&](std::uint64_t i) {
      return key(1 + i / pattern.run * pattern.of + i % pattern.run);
    };
    MessageTable table;
    for (std::uint64_t i = 0; i < kMessages; ++i) table.insert(nth(i));
    std::size_t steps = 0;
    for (std::uint64_t i = 0; i < kMessages; ++i) steps += table.steps_to(nth(i));
    EXPECT_LT(steps, 3 * kMessages);
  }
}

// A queue that waits, and another one whose messages come and go for ever.
TEST(MessageTable, TrafficPassesABacklogWithoutMeetingIt) {
  constexpr std::uint64_t kBacklog = 90'000;
  MessageTable table;
  for (std::uint64_t i = 1; i <= kBacklog; ++i) table.insert(key(i));
  std::size_t steps = 0;
  for (std::uint64_t i = kBacklog + 1; i <= 5 * kBacklog; ++i) {
    table.insert(key(i));
    steps += table.steps_to(key(i));
    if (i > kBacklog + 1'000) table.erase(table.find(key(i - 1'000)));
  }
  EXPECT_LT(steps, 4 * 3 * kBacklog);
}

TEST(MessageTable, WalkingTheSlotsMeetsEveryLiveMessageOnce) {
  MessageTable table;
  for (std::uint64_t i = 1; i <= 100; ++i) table.insert(key(i));
  for (std::uint64_t i = 1; i <= 100; i += 3) table.erase(table.find(key(i)));
  table.insert(key(500));
  std::size_t live = 0;
  for (Slot slot = 0; slot < table.end(); ++slot) live += table[slot].key != MessageKey::none;
  EXPECT_EQ(live, table.size());
  EXPECT_EQ(table.end(), 100u);  // The new one took a freed slot.
}

TEST(MessageTable, AFreedSlotAndHistoryStartAfresh) {
  MessageTable table;
  const Slot first = table.insert(key(1));
  table[first].receive_count = 9;
  table.history(first).redrives = 3;
  table.history(first).attempts.resize(5);
  table.erase(first);

  const Slot second = table.insert(key(2));
  ASSERT_EQ(second, first);
  EXPECT_EQ(table[second].receive_count, 0u);
  EXPECT_EQ(table.history_if(second), nullptr);
  EXPECT_EQ(table.history(second), History{});
}

// A million messages waiting: at most 96 bytes each, index and all.
TEST(MessageTable, AWaitingMessageCostsAtMost96Bytes) {
  constexpr std::size_t kMessages = 1'000'000;
  World world;
  Queue& queue = world.create("orders");
  for (std::size_t i = 1; i <= kMessages; ++i) {
    MessageSent sent{};
    sent.queue = queue.key;
    sent.key = key(i);
    sent.visible_at = world.stamp.now;
    world.apply(sent);
  }
  ASSERT_EQ(world.counts(queue).visible, kMessages);
  EXPECT_LE(world.state.memory_bytes() / kMessages, 96u);
}

}  // namespace
}  // namespace redrive::queue
