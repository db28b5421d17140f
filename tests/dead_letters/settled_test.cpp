#include <gtest/gtest.h>

#include "tests/dead_letters/dead_letter_world.h"

// Messages that were processed after a redrive stay findable for a while.

namespace redrive::engine {
namespace {

using Where = LineagePlace::Where;

struct Settled : DeadLetterWorld {
  // One dies, is redriven by a job and processed; its first MessageId.
  Uuid settle_one(const std::string& name = "order 4992") {
    make_dead(1, name);
    const Uuid id = lineage_in("dead");
    start({.name = "fix"});
    run();
    succeed_all("orders");
    return id;
  }
  void run() {
    for (int i = 0; i < 20; ++i) {
      world.pass(seconds(1));
      engine().tick();
    }
  }
  void maintain() {
    for (int i = 0; i < 200 && *engine().maintain(); ++i) {
    }
  }
  Uuid lineage_in(const std::string& name) {
    const auto page = dead_letters().peek.page(identity_of(name), {}, 1);
    std::string bytes;
    return engine()
        .read_message(page->messages.at(0).mark.key, page->messages[0].body, bytes)
        ->message_id;
  }
  std::size_t settled() { return state().settled_messages(); }
};

TEST_F(Settled, IsFoundWithTheJobThatRedroveIt) {
  const Uuid id = settle_one();
  EXPECT_EQ(size("orders"), 0u);
  EXPECT_EQ(counts(), store::describe_counts({.moved = 1, .succeeded = 1}));
  const LineageFound found = dead_letters().lineages.find(id);
  ASSERT_EQ(found.places.size(), 1u);
  EXPECT_EQ(found.places[0].where, Where::settled);
  EXPECT_EQ(found.places[0].queue, identity_of("orders").arn());
  const Peeked& message = found.places[0].message;
  EXPECT_EQ(message.history->events.back().kind, queue::LineageEvent::Kind::processed);
  EXPECT_EQ(message.history->attempts.back().end, queue::AttemptEnd::processed);
  EXPECT_EQ(message.events.back().job, job().id.text());
  // By the id that the redrive gave, too.
  EXPECT_EQ(dead_letters().lineages.find(found.places[0].message_id).places.size(), 1u);
  expect_restart_changes_nothing();
}

// Traces tell of dead letters a moment later, when they may have been redriven and processed.
TEST_F(Settled, IsFoundByItsKeyWhereverItIs) {
  make_dead(1);
  const queue::MessageKey key = keys("dead").at(0);
  EXPECT_EQ(dead_letters().peek.by_key(key).messages.size(), 1u);
  start({});
  run();
  EXPECT_EQ(dead_letters().peek.by_key(key).messages.size(), 1u);
  succeed_all("orders");
  EXPECT_EQ(dead_letters().peek.by_key(key).messages.size(), 1u);
  EXPECT_TRUE(dead_letters().peek.by_key(next(key)).messages.empty());
}

TEST_F(Settled, IsFoundByTheBeginningOfItsId) {
  const Uuid id = settle_one();
  const Uuid other = settle_one("b");
  EXPECT_EQ(dead_letters().lineages.like(id.text().substr(0, 13), 10), std::vector{id});
  const Uuid renamed = dead_letters().lineages.find(other).places.at(0).message_id;
  EXPECT_EQ(dead_letters().lineages.like(renamed.text().substr(0, 18), 10), std::vector{other});
  EXPECT_EQ(dead_letters().lineages.like("", 10).size(), 2u);
  EXPECT_EQ(dead_letters().lineages.like("", 1).size(), 1u);
}

TEST_F(Settled, OnlyWhatDiedAndWasRedriven) {
  world.send("orders", "good");
  succeed_all("orders");
  EXPECT_EQ(settled(), 0u);
  make_dead(1);
  succeed_all("dead");  // Deleted from the dead-letter queue: given up, not processed.
  EXPECT_EQ(settled(), 0u);
}

TEST_F(Settled, NobodyReceivesIt) {
  settle_one();
  EXPECT_TRUE(world.receive("orders", 10).empty());
  EXPECT_FALSE(engine().turn(
      [](Turn& turn) { return turn.queue(settled_of(identity_of("orders"))).has_value(); }));
}

TEST_F(Settled, IsForgottenAfterSevenDays) {
  const Uuid id = settle_one();
  world.pass(std::chrono::days(6));
  maintain();
  EXPECT_EQ(dead_letters().lineages.find(id).places.size(), 1u);
  world.pass(std::chrono::days(2));
  maintain();
  EXPECT_EQ(dead_letters().lineages.find(id).places.size(), 0u);
  EXPECT_EQ(settled(), 0u);
}

TEST_F(Settled, OlderOnesMakeRoomForNewerOnes) {
  world.settled = {.messages_max = 2};
  world.restart();
  const Uuid first = settle_one("a");
  const Uuid second = settle_one("b");
  const Uuid third = settle_one("c");
  maintain();
  EXPECT_EQ(settled(), 2u);
  EXPECT_EQ(dead_letters().lineages.find(first).places.size(), 0u);
  EXPECT_EQ(dead_letters().lineages.find(second).places.size(), 1u);
  EXPECT_EQ(dead_letters().lineages.find(third).places.size(), 1u);
  expect_restart_changes_nothing();
}

TEST_F(Settled, AFullDiskTakesTheirSpaceFirst) {
  settle_one("a");
  ASSERT_EQ(settled(), 1u);
  world.journal.set_room(false);
  maintain();
  EXPECT_EQ(settled(), 0u);
}

TEST_F(Settled, NoneWhenSwitchedOff) {
  world.settled = {.messages_max = 0};
  world.restart();
  settle_one();
  EXPECT_EQ(settled(), 0u);
}

TEST_F(Settled, TwiceInOneRequestIsOnce) {
  make_dead(1);
  start({});
  run();
  ASSERT_EQ(world.receive("orders", 1).size(), 1u);
  const std::vector<std::string_view> handles = {world.last_handles[0], world.last_handles[0]};
  const auto removed = engine().remove(identity_of("orders"), handles);
  ASSERT_TRUE(removed && (*removed)[0] && (*removed)[1]);
  EXPECT_EQ(settled(), 1u);
}

}  // namespace
}  // namespace redrive::engine
