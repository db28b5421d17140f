#include <gtest/gtest.h>

#include "tests/dead_letters/dead_letter_world.h"

// Messages whose stored bytes are not what was written: every operation works around them, and they
// are kept where they can be seen, dropped or taken back.

namespace redrive::engine {
namespace {

struct Damage : DeadLetterWorld {
  queue::BodyRef body_of(const std::string& name, queue::MessageKey key) {
    return engine().turn([&](Turn& turn) {
      const queue::Slot slot = turn.state().messages().find(key);
      EXPECT_NE(slot, queue::kNoSlot) << name;
      return turn.state().messages()[slot].body;
    });
  }
  // The message at this place of a queue, oldest first.
  queue::MessageKey flip(const std::string& name, std::size_t at) {
    const queue::MessageKey key = keys(name).at(at);
    world.journal.flip_bit(body_of(name, key));
    return key;
  }
  // A receive as the API makes it: whatever cannot be read is left out.
  Bodies receive(const std::string& name, std::size_t max = 10) {
    auto start = engine().receive(identity_of(name), {.max = max}, Duration::zero(), {});
    EXPECT_TRUE(start.answer && start.answer->has_value());
    Bodies bodies;
    std::string bytes;
    for (const Received& received : (*start.answer)->messages) {
      const auto stored = engine().read_message(received, bytes);
      if (stored) bodies.emplace_back(stored->contents.body);
    }
    return bodies;
  }
  std::vector<DamagedMessage> damaged(const std::string& name) {
    auto page = dead_letters().damage.list(identity_of(name), {}, 100);
    EXPECT_TRUE(page.has_value());
    return page ? std::move(page->messages) : std::vector<DamagedMessage>();
  }
  void maintain() {
    while (engine().maintain().value()) world.journal.sync_once().value();
  }
};

TEST_F(Damage, IsSetAsideByTheReceiveThatFindsIt) {
  for (const char* body : {"a", "b", "c"}) world.send("orders", body);
  const queue::MessageKey key = flip("orders", 1);
  const queue::BodyRef body = body_of("orders", key);
  EXPECT_EQ(receive("orders"), (Bodies{"a", "c"}));
  const auto found = damaged("orders");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].mark.key, key);
  EXPECT_EQ(found[0].body, body);
  EXPECT_EQ(found[0].queue_arn, identity_of("orders").arn());
  EXPECT_EQ(found[0].error, "its bytes do not match their checksum");
  EXPECT_EQ(found[0].found_wall, world.clock.wall());
  EXPECT_EQ(found[0].receive_count, 1u);
  EXPECT_TRUE(found[0].message_id.has_value());  // The head is whole.
  EXPECT_EQ(size("orders"), 2u);
  EXPECT_EQ(dead_letters().damage.counts(),
            (std::map<QueueIdentity, std::size_t>{{identity_of("orders"), 1}}));
  expect_restart_changes_nothing();
  EXPECT_EQ(damaged("orders").size(), 1u);
}

// A wrong id would be the id of no message, or of another one.
TEST_F(Damage, IsListedWithItsIdOrWithoutOne) {
  world.send("orders", "a letter");
  const queue::MessageKey key = flip("orders", 0);
  const queue::BodyRef body = body_of("orders", key);
  EXPECT_EQ(receive("orders"), Bodies{});
  ASSERT_EQ(damaged("orders").size(), 1u);
  const auto id = damaged("orders")[0].message_id;
  ASSERT_TRUE(id.has_value());
  world.journal.flip_bit(body);
  EXPECT_EQ(damaged("orders")[0].message_id, id);
  for (std::uint32_t at = 0; at < body.size; ++at) {
    world.journal.flip_bit(body, at);
    const auto listed = damaged("orders")[0].message_id;
    const bool in_head = at < store::kMessageHeadBytes;
    const bool in_text = at >= body.size - 8;
    if (in_head) EXPECT_EQ(listed, std::nullopt) << at;
    if (in_text) EXPECT_EQ(listed, id) << at;
    if (listed) EXPECT_EQ(listed, id) << at;
    world.journal.flip_bit(body, at);
  }
}

TEST_F(Damage, DoesNotStopAFifoGroup) {
  world.create("line.fifo", fifo_settings());
  for (const char* body : {"a", "b", "c"}) world.send("line.fifo", body);
  flip("line.fifo", 0);
  EXPECT_EQ(receive("line.fifo", 1), Bodies{});
  EXPECT_EQ(receive("line.fifo", 2), (Bodies{"b", "c"}));
}

TEST_F(Damage, WakesWhoWaitsForTheRestOfAFifoGroup) {
  world.create("line.fifo", fifo_settings());
  for (const char* body : {"a", "b"}) world.send("line.fifo", body);
  flip("line.fifo", 0);
  auto start = engine().receive(identity_of("line.fifo"), {.max = 1}, Duration::zero(), {});
  const auto waiting = world.wait("line.fifo", seconds(20), 1);
  std::string bytes;
  EXPECT_FALSE(engine().read_message((*start.answer)->messages[0], bytes).has_value());
  EXPECT_TRUE(waiting->ended_with({"b"}));
}

// It may have been received whole, from memory, and be deleted yet.
TEST_F(Damage, LeavesAloneWhatAConsumerHolds) {
  world.send("orders", "a");
  ASSERT_EQ(world.receive("orders"), Bodies{"a"});
  const queue::MessageKey key = flip("orders", 0);
  std::string bytes;
  EXPECT_FALSE(engine().read_message(key, body_of("orders", key), bytes).has_value());
  EXPECT_TRUE(damaged("orders").empty());
  world.pass(seconds(31));
  EXPECT_FALSE(engine().read_message(key, body_of("orders", key), bytes).has_value());
  EXPECT_EQ(damaged("orders").size(), 1u);
}

// An edit or a compaction has replaced the bytes since they were read.
TEST_F(Damage, OfFormerBytesIsNotDamageOfTheMessage) {
  world.send("orders", "a");
  const queue::MessageKey key = keys("orders").at(0);
  queue::BodyRef former = body_of("orders", key);
  former.offset += 64;
  dead_letters().damage.found_damage({.key = key, .body = former, .error = "torn"});
  EXPECT_TRUE(dead_letters().damage.counts().empty());
  EXPECT_EQ(receive("orders"), Bodies{"a"});
}

TEST_F(Damage, IsReadTwiceBeforeItCounts) {
  world.send("orders", "a");
  world.journal.set_bad_copy(body_of("orders", keys("orders")[0]));
  EXPECT_EQ(receive("orders"), Bodies{"a"});
  EXPECT_TRUE(dead_letters().damage.counts().empty());
}

TEST_F(Damage, IsNotWhatADiskThatDoesNotAnswerMeans) {
  world.send("orders", "a");
  world.journal.set_unreadable(true);
  EXPECT_EQ(receive("orders"), Bodies{});
  world.journal.set_unreadable(false);
  EXPECT_TRUE(dead_letters().damage.counts().empty());
  EXPECT_EQ(size("orders"), 1u);
}

TEST_F(Damage, IsTheBytesOfAnotherMessageInItsPlace) {
  world.send("orders", "a");
  const queue::MessageKey key = keys("orders")[0];
  std::string bytes;
  const auto other = static_cast<queue::MessageKey>(number(key) + 1);
  const auto read = engine().read_message(other, body_of("orders", key), bytes);
  EXPECT_EQ(read.error().message, "the bytes of another message are in its place");
}

TEST_F(Damage, DoesNotStopAJobWithAFilter) {
  make_dead(5);
  group();
  flip("dead", 2);
  start({.filter = "body like \"m*\""});
  world.pass(seconds(1));
  EXPECT_EQ(job().status, queue::TaskStatus::completed);
  EXPECT_EQ(size("orders"), 4u);
  EXPECT_EQ(size("dead"), 0u);
  EXPECT_EQ(damaged("dead").size(), 1u);
  expect_restart_changes_nothing();
}

TEST_F(Damage, DoesNotStopAChoiceByFilter) {
  make_dead(4);
  flip("dead", 1);
  const auto chosen =
      dead_letters().jobs.choose(identity_of("dead"), {.filter = "body like \"m*\""}, 100, 100);
  EXPECT_EQ(chosen->keys.size(), 3u);
  EXPECT_EQ(damaged("dead").size(), 1u);
}

TEST_F(Damage, IsFoundWhenDeadLettersAreGrouped) {
  make_dead(3);
  const queue::MessageKey key = flip("dead", 0);
  group();
  EXPECT_EQ(damaged("dead").at(0).mark.key, key);
  EXPECT_EQ(damaged("dead").at(0).dead_letter_source, identity_of("orders").arn());
  EXPECT_EQ(only_group().count, 2u);
  expect_restart_changes_nothing();
}

TEST_F(Damage, IsTakenFromTheBinToo) {
  make_dead(2);
  group();
  const auto all = keys("dead");
  ASSERT_EQ(
      dead_letters().bin.discard(identity_of("dead"), all, {.name = "ada", .reason = {}}).value(),
      2u);
  const queue::BodyRef body = body_of("dead", all[0]);
  world.journal.flip_bit(body);
  std::string bytes;
  EXPECT_FALSE(engine().read_message(all[0], body, bytes).has_value());
  EXPECT_EQ(dead_letters().peek.bin_page(identity_of("dead"), {}, 10)->messages.size(), 1u);
  EXPECT_EQ(damaged("dead").at(0).queue_arn, bin_of(identity_of("dead")).arn());
  world.journal.flip_bit(body);
  EXPECT_EQ(
      dead_letters().damage.retry(identity_of("dead"), all, {.name = "bob", .reason = {}}).value(),
      1u);
  EXPECT_EQ(dead_letters().peek.bin_page(identity_of("dead"), {}, 10)->messages.size(), 2u);
}

TEST_F(Damage, CanBeTakenBackWhenTheBytesAreThereAgain) {
  for (const char* body : {"a", "b"}) world.send("orders", body);
  const queue::MessageKey key = flip("orders", 0);
  EXPECT_EQ(receive("orders"), Bodies{"b"});
  const std::vector keys{key, static_cast<queue::MessageKey>(999)};
  EXPECT_EQ(dead_letters().damage.retry(identity_of("orders"), keys, {}).value(), 0u);
  world.journal.flip_bit(damaged("orders").at(0).body);
  EXPECT_EQ(dead_letters().damage.retry(identity_of("orders"), keys, {}).value(), 1u);
  EXPECT_TRUE(damaged("orders").empty());
  EXPECT_EQ(receive("orders"), Bodies{"a"});
  expect_restart_changes_nothing();
}

TEST_F(Damage, CanBeDropped) {
  world.send("orders", "a");
  const queue::MessageKey key = flip("orders", 0);
  EXPECT_EQ(receive("orders"), Bodies{});
  const std::vector keys{key, key};
  EXPECT_EQ(dead_letters().damage.drop(identity_of("orders"), keys).value(), 1u);
  EXPECT_EQ(dead_letters().damage.drop(identity_of("orders"), keys).value(), 0u);
  EXPECT_TRUE(damaged("orders").empty());
  expect_restart_changes_nothing();
}

TEST_F(Damage, IsForgottenInTheEnd) {
  world.send("orders", "a");
  flip("orders", 0);
  EXPECT_EQ(receive("orders"), Bodies{});
  world.pass(kDamagedRetention - seconds(1));
  EXPECT_EQ(damaged("orders").size(), 1u);
  world.pass(seconds(1));
  EXPECT_TRUE(damaged("orders").empty());
}

TEST_F(Damage, SetsOffASearchForMoreOfItInTheSameSegment) {
  for (int i = 0; i < 300; ++i) world.send("orders", "m" + std::to_string(i));
  for (const std::size_t at : {3u, 150u, 299u}) flip("orders", at);
  receive("orders", 10);
  EXPECT_EQ(damaged("orders").size(), 1u);
  maintain();
  EXPECT_EQ(damaged("orders").size(), 3u);
  EXPECT_EQ(size("orders"), 297u);
}

TEST_F(Damage, IsNoQueueForClients) {
  world.send("orders", "a");
  flip("orders", 0);
  receive("orders");
  auto received =
      engine().receive(damaged_of(identity_of("orders")), {.max = 1}, Duration::zero(), {});
  EXPECT_EQ(received.answer->error().code, ErrorCode::queue_does_not_exist);
  EXPECT_FALSE(dead_letters().damage.list(identity_of("missing"), {}, 10).has_value());
}

}  // namespace
}  // namespace redrive::engine
