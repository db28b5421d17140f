#include "sim/driver.h"

#include <gtest/gtest.h>

#include "core/journal/format.h"
#include "tests/sim/facts.h"

namespace redrive::sim {
namespace {

Verdict run(std::uint64_t seed) {
  return Driver({.seed = seed, .steps = 200}).run();
}

TEST(Driver, EqualSeedsGiveEqualRuns) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Verdict first = run(seed);
    const Verdict second = run(seed);
    EXPECT_TRUE(first.passed) << first.invariant << ": " << first.detail;
    EXPECT_EQ(first.trace, second.trace);
    EXPECT_EQ(first.totals.records, second.totals.records);
  }
  EXPECT_NE(run(1).trace, run(2).trace);
}

// A world with one queue and one acknowledged message.
struct SmallWorld : testing::Test {
  SmallWorld() {
    world.engine().turn([&](engine::Turn& turn) {
      std::vector<queue::Change> changes;
      const std::string arn = named("q").arn();
      const queue::NameIndex name = turn.name(arn, changes);
      changes.push_back(queue::QueueCreated{kQueue, name, named("q"), {}, {}});
      turn.commit(changes);
    });
    world.follow(world.take_records());
    Letter letter = write_letter(chance, Post::standard, 100);
    letter.delay.reset();
    const queue::Draft draft = draft_of(letter);
    EXPECT_TRUE(world.engine().send(named("q"), std::span(&draft, 1)));
    const auto records = world.take_records();
    const auto& fact = *records.front().facts.front().as<queue::MessageSent>();
    letter.key = fact.key;
    letter.queue = kQueue;
    letter.message_id = fact.message_id;
    letter.sent_wall = records.front().stamp.wall;
    letter.visible_at = fact.visible_at;
    world.keep(letter);
    world.follow(records);
    world.sync();
  }

  Chance chance{5};
  World world{chance, Shape{}, 5};
};

TEST_F(SmallWorld, SurvivesEveryEnding) {
  for (const Ending ending : {Ending::killed, Ending::power_lost, Ending::clean}) {
    world.end(ending);
    EXPECT_EQ(world.model().messages().size(), 1u);
  }
  world.replay_elsewhere();
}

TEST_F(SmallWorld, NoticesALostSegment) {
  world.files().erase(journal::segment_name(world.journal().usage().back().segment));
  EXPECT_NE(broken_by([&] { world.end(Ending::killed); }), "");
}

TEST_F(SmallWorld, NoticesWhatWasNeverAskedFor) {
  queue::State& state = world.store().state();
  state.apply(queue::MessageDeleted{kQueue, state.messages()[0].key}, {world.now(), world.now()});
  EXPECT_EQ(broken_by([&] { world.check(); }), "no message is lost");
}

TEST_F(SmallWorld, NoticesWhenStorageFailsUnasked) {
  world.files().fail_sync_after(0);
  world.engine().turn([&](engine::Turn& turn) { turn.commit(queue::QueuePurged{kQueue}); });
  world.follow(world.take_records());
  EXPECT_EQ(broken_by([&] { world.sync(); }), "storage fails only when told to");
}

}  // namespace
}  // namespace redrive::sim
