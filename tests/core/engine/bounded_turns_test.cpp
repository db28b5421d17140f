// However many jobs, waits, calls, delayed messages and hidden queues there are, no turn does more
// than a bounded part of the work.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/engine/in_turns.h"
#include "tests/dead_letters/dead_letter_world.h"

namespace redrive::engine {
namespace {

constexpr std::uint64_t kWorkBound = 3000;

struct BoundedTurns : DeadLetterWorld {
  using Waiting = EngineWorld::Waiting;

  std::vector<std::shared_ptr<Waiting>> wait_often(const std::string& name, int count) {
    std::vector<std::shared_ptr<Waiting>> waits;
    for (int i = 0; i < count; ++i) waits.push_back(world.wait(name, seconds(20)));
    return waits;
  }
  void settle() {
    for (int i = 0; i < 10'000; ++i) {
      if (engine().armed() <= engine().now()) {
        engine().tick();
      } else if (!*engine().maintain()) {
        return;
      }
    }
    FAIL() << "there is always more to do";
  }
  void expect_bounded() { EXPECT_LE(engine().take_most_work(), kWorkBound); }

  void send_delayed(const std::string& name, int count) {
    for (int i = 0; i < count; ++i) world.send(name, "m" + std::to_string(i));
  }
  QueueSettings fifo_with_delay(seconds delay) {
    QueueSettings settings = fifo_settings();
    settings.delay = delay;
    return settings;
  }
  std::size_t visible(const std::string& name) {
    return engine().turn([&](Turn& turn) {
      return turn.state().mailbox(**turn.queue(identity_of(name))).visible();
    });
  }
};

TEST_F(BoundedTurns, ManyCallsThatAreDueTogetherAreMadeInPortions) {
  int made = 0;
  for (int i = 0; i < 1000; ++i) engine().call_at(engine().now(), [&] { ++made; });
  engine().tick();
  EXPECT_GT(made, 0);
  EXPECT_LT(made, 1000);
  EXPECT_LE(engine().armed(), engine().now());
  world.pass(Duration::zero());
  EXPECT_EQ(made, 1000);
}

TEST_F(BoundedTurns, ManyReceivesThatWaitForAQueueThatGoesEndInPortions) {
  const auto waits = wait_often("orders", 1000);
  const auto ended = [&] {
    return std::ranges::count_if(waits, [](const auto& wait) { return wait->ended.has_value(); });
  };
  world.remove_queue("orders");
  EXPECT_GT(ended(), 0);
  EXPECT_LT(ended(), 1000);
  settle();
  EXPECT_EQ(ended(), 1000);
  for (const auto& wait : waits) EXPECT_EQ(wait->calls, 1);
  EXPECT_EQ((*waits.back()->ended).error().code, ErrorCode::queue_does_not_exist);
}

TEST_F(BoundedTurns, ManyReceivesWithTheSameDeadlineEndInPortions) {
  const auto waits = wait_often("orders", 1000);
  world.clock.advance(seconds(20));
  engine().take_most_work();
  engine().tick();
  EXPECT_FALSE(waits.back()->ended.has_value());
  settle();
  for (const auto& wait : waits) EXPECT_TRUE(wait->ended_with({}));
  EXPECT_LE(engine().take_most_work(), 1000u);
}

TEST_F(BoundedTurns, AllReceivesEndWhenTheServerStops) {
  const auto waits = wait_often("orders", 1000);
  engine().take_most_work();
  engine().stop_waiting();
  for (const auto& wait : waits) EXPECT_TRUE(wait->ended_with({}));
  EXPECT_EQ(engine().waiting(), 0u);
  EXPECT_LE(engine().take_most_work(), 300u);
}

// Queues whose receives are not done in one turn take turns with the others.
TEST_F(BoundedTurns, ManyQueuesWithReceivesToBeTriedAgainAllHaveTheirTurns) {
  constexpr int kQueues = 300;
  QueueSettings settings;
  settings.redrive = queue::RedrivePolicy{identity_of("dead").arn(), 1};
  std::vector<std::shared_ptr<Waiting>> waits;
  for (int i = 0; i < kQueues; ++i) {
    const std::string name = "q" + std::to_string(i);
    world.create(name, settings);
    waits.push_back(world.wait(name, seconds(1000)));
  }
  for (int i = 0; i < kQueues; ++i) world.send("q" + std::to_string(i), "a");
  settle();
  for (const auto& wait : waits) EXPECT_TRUE(wait->ended_with({"a"}));
}

TEST_F(BoundedTurns, ANewDelayOfAFifoQueueHoldsForWhatWaitsThoughItIsGivenInPortions) {
  constexpr int kMany = 3500;
  world.create("a.fifo", fifo_with_delay(seconds(900)));
  send_delayed("a.fifo", kMany);
  world.clock.advance(seconds(10));
  engine().take_most_work();
  world.change("a.fifo", fifo_with_delay(seconds(5)));
  EXPECT_LT(world.state().mailbox(queue("a.fifo")).visible(), std::size_t{kMany});
  settle();
  EXPECT_EQ(visible("a.fifo"), std::size_t{kMany});
  expect_bounded();
  expect_restart_changes_nothing();
}

// None becomes visible by the delay it had, whether or not it has been given the new one.
TEST_F(BoundedTurns, ALongerDelayOfAFifoQueueHoldsAtOnce) {
  constexpr int kMany = 3500;
  world.create("a.fifo", fifo_with_delay(seconds(10)));
  send_delayed("a.fifo", kMany);
  world.change("a.fifo", fifo_with_delay(seconds(600)));
  world.clock.advance(seconds(11));
  engine().take_most_work();
  EXPECT_EQ(visible("a.fifo"), 0u);
  settle();
  EXPECT_EQ(visible("a.fifo"), 0u);
  world.clock.advance(seconds(588));
  EXPECT_EQ(visible("a.fifo"), 0u);
  world.clock.advance(seconds(1));
  settle();
  EXPECT_EQ(visible("a.fifo"), std::size_t{kMany});
  expect_bounded();
}

TEST_F(BoundedTurns, AReceiveThatWaitsGetsWhatAShorterDelayBrings) {
  constexpr int kMany = 3500;
  world.create("a.fifo", fifo_with_delay(seconds(900)));
  send_delayed("a.fifo", kMany);
  const auto waiting = world.wait("a.fifo", seconds(20), 1);
  world.change("a.fifo", fifo_with_delay(seconds(0)));
  settle();
  EXPECT_TRUE(waiting->ended_with({"m0"}));
}

// A second change while the first is still being given to messages takes up where that would be.
TEST_F(BoundedTurns, TwoNewDelaysInARowAreOneAfterTheOther) {
  constexpr int kMany = 3500;
  world.create("a.fifo", fifo_with_delay(seconds(900)));
  send_delayed("a.fifo", kMany);
  world.clock.advance(seconds(10));
  world.change("a.fifo", fifo_with_delay(seconds(5)));  // All of them are visible from here on.
  world.change("a.fifo", fifo_with_delay(seconds(600)));
  EXPECT_EQ(visible("a.fifo"), std::size_t{kMany});
  expect_restart_changes_nothing();
}

TEST_F(BoundedTurns, ACheckpointHasTheNewDelayOfWhatHasNotBeenGivenItYet) {
  EngineWorld crowded({.checkpoint_bytes_min = 1, .checkpoint_segments = 1'000'000});
  crowded.create("a.fifo", fifo_with_delay(seconds(10)));
  for (int i = 0; i < 3500; ++i) crowded.send("a.fifo", "m");
  const auto messages_written = [&] { return crowded.journal.checkpoint() > 0; };
  crowded.change("a.fifo", fifo_with_delay(seconds(600)));
  ASSERT_TRUE(
      crowded.state().mailbox(*crowded.state().find(identity_of("a.fifo"))).is_redelaying());
  // The store's own maintenance goes on without the engine's, which would finish the delays first.
  for (int i = 0; i < 1000 && !messages_written(); ++i) {
    crowded.engine().turn([&](Turn& turn) { crowded.store().maintain(turn.stamp()); });
    ASSERT_TRUE(crowded.store().publish_checkpoint().has_value());
    ASSERT_TRUE(crowded.journal.sync_once().has_value());
  }
  ASSERT_TRUE(messages_written());
  store::Store loaded;
  for (const auto& record : crowded.journal.records()) {
    if (record.sequence < crowded.journal.checkpoint()) continue;
    ASSERT_TRUE(loaded.replay(record.at, record.payload).has_value());
  }
  queue::Queue& queue = *loaded.state().find(identity_of("a.fifo"));
  loaded.state().advance(queue, crowded.engine().now() + seconds(599));
  EXPECT_EQ(loaded.state().mailbox(queue).visible(), 0u);
  loaded.state().advance(queue, crowded.engine().now() + seconds(600));
  EXPECT_EQ(loaded.state().mailbox(queue).visible(), 3500u);
}

TEST_F(BoundedTurns, AResetGoesOverManyQueuesInPortions) {
  for (int i = 0; i < 3000; ++i) world.create("q" + std::to_string(i));
  const auto waiting = world.wait("q2999", seconds(20));
  engine().turn([&](Turn& turn) {
    for (int i = 0; i < 2000; ++i) {
      const std::string name = "e" + std::to_string(i);
      turn.commit(queue::EntryPut{queue::EntryKind::setting, name, "{}"});
    }
  });
  make_dead(3);
  start({}, 1);
  engine().take_most_work();
  EXPECT_EQ(engine().reset(), 3003u);
  EXPECT_TRUE(state().queues().empty());
  EXPECT_TRUE(state().entries().empty());
  EXPECT_TRUE(state().tasks().empty());
  EXPECT_TRUE(state().deleted().empty());
  expect_bounded();
  settle();
  ASSERT_TRUE(waiting->ended.has_value());
  EXPECT_EQ(waiting->ended->error().code, ErrorCode::queue_does_not_exist);
  world.create("orders");
  expect_restart_changes_nothing();
}

TEST_F(BoundedTurns, JobsOfManyQueuesTakeTurns) {
  constexpr int kQueues = 300;
  for (int i = 0; i < kQueues; ++i) {
    const std::string name = "dead" + std::to_string(i);
    world.create(name);
    QueueSettings settings;
    settings.redrive = queue::RedrivePolicy{identity_of(name).arn(), 1};
    world.create("work" + std::to_string(i), settings);
    world.send("work" + std::to_string(i), "a");
    fail_all("work" + std::to_string(i));
    start({}, 0, name);
  }
  engine().take_most_work();
  world.pass(seconds(10));
  for (const auto& [key, task] : state().tasks()) {
    EXPECT_EQ(task.status, queue::TaskStatus::completed);
    EXPECT_EQ(task.counts.moved, 1u);
  }
  expect_bounded();
}

TEST_F(BoundedTurns, DamagedMessagesOfManyQueuesAreCountedInPortions) {
  for (int i = 0; i < 3000; ++i) {
    engine().turn([&](Turn& turn) {
      turn.hidden_queue(queue::damaged_of(identity_of("q" + std::to_string(i))), {});
    });
  }
  engine().take_most_work();
  EXPECT_EQ(dead_letters().damage.counts().size(), 3000u);
  EXPECT_LE(engine().take_most_work(), 1100u);
}

// Of many queues with settled messages the one whose messages expire next is found at once.
TEST_F(BoundedTurns, SettledMessagesOfManyQueuesAreTrimmedOldestFirst) {
  constexpr int kQueues = 300;
  world.settled = {.messages_max = 100};
  world.restart();
  QueueSettings settings;
  settings.redrive = queue::RedrivePolicy{identity_of("dead").arn(), 1};
  for (int i = 0; i < kQueues; ++i) {
    const std::string name = "q" + std::to_string(i);
    world.create(name, settings);
    world.send(name, "a");
    fail_all(name);
  }
  start({});
  world.pass(seconds(10));
  for (int i = 0; i < kQueues; ++i) {
    succeed_all("q" + std::to_string(i));
    world.clock.advance(Duration(10));
  }
  EXPECT_EQ(state().settled_messages(), std::size_t{kQueues});
  engine().take_most_work();
  settle();
  EXPECT_EQ(state().settled_messages(), 100u);
  EXPECT_LE(engine().take_most_work(), 1100u);
  const auto kept = [&](int i) {
    const auto* queue = state().find(settled_of(identity_of("q" + std::to_string(i))));
    return state().mailbox(*queue).size();
  };
  EXPECT_EQ(kept(0), 0u);
  EXPECT_EQ(kept(199), 0u);
  EXPECT_EQ(kept(200), 1u);
  EXPECT_EQ(kept(299), 1u);
}

// A checkpoint brings jobs, groups and rules queue by queue. Between two of these steps dead
// letters get groups, groups make room for others, jobs start, settle and are forgotten, messages
// expire and queues go: a start from the checkpoint knows all of it.
struct CountingCheckpoint : testing::Test {
  static constexpr int kQueues = 12;
  EngineWorld world{{.checkpoint_bytes_min = 1, .checkpoint_segments = 1'000'000}};
  int step = 0;

  CountingCheckpoint() {
    for (int i = 0; i < kQueues; ++i) {
      QueueSettings dead;
      dead.retention = i % 4 == 3 ? seconds(100) : seconds(100'000);
      world.create(dead_of(i), dead);
      QueueSettings settings;
      settings.redrive = queue::RedrivePolicy{identity_of(dead_of(i)).arn(), 1};
      settings.retention = i % 3 == 2 ? seconds(50) : seconds(100'000);
      world.create(name_of(i), settings);
    }
  }
  static std::string name_of(int i) { return "work" + std::to_string(i); }
  static std::string dead_of(int i) { return "dead" + std::to_string(i); }
  Engine& engine() { return world.engine(); }
  queue::State& state() { return world.state(); }
  queue::Queue& queue(const std::string& name) { return *state().find(identity_of(name)); }

  // Dies for one of so many reasons.
  void die(int i, int reasons) {
    world.send(name_of(i), "m");
    world.receive(name_of(i), 1);
    if (world.last_handles.empty()) return;
    const std::string handle = world.last_handles[0];
    const std::string type = "E" + std::to_string(step++ % reasons);
    ASSERT_TRUE(engine()
                    .report_failure(identity_of(name_of(i)),
                                    {.handle = handle,
                                     .error = {.type = type, .message = type},
                                     .disposition = queue::Disposition::dead_letter})
                    .has_value());
  }
  void start(int i) {
    if (state().active_task(queue(dead_of(i)).key) != nullptr) return;
    engine().turn([&](Turn& turn) {
      const std::string arn = identity_of(dead_of(i)).arn();
      turn.commit(queue::MoveTaskStarted{.task = next(turn.state().last_task()),
                                         .id = turn.ids().uuid(),
                                         .source = queue(dead_of(i)).key,
                                         .source_arn = arn,
                                         .destination_arn = {},
                                         .rate = 0,
                                         .to_move = 1,
                                         .plan = {.frozen_at = number(turn.state().last_key())}});
    });
  }
  void process(int i) {
    if (world.receive(name_of(i), 10).empty()) return;
    const std::vector<std::string_view> handles(world.last_handles.begin(),
                                                world.last_handles.end());
    ASSERT_TRUE(engine().remove(identity_of(name_of(i)), handles).has_value());
  }
  void merge_two(int i) {
    const auto groups = state().groups_in(queue(dead_of(i)).key);
    if (groups.size() < 2) return;
    const Actor by{.name = "a", .reason = "r"};
    ASSERT_TRUE(
        world.dead_letters()
            .groups
            .merge(identity_of(dead_of(i)), groups[0]->identity.id, groups[1]->identity.id, by)
            .has_value());
  }
  void do_something() {
    const int i = (step * 7) % kQueues;
    die(i, 30);
    switch (step % 6) {
      case 0:
        world.dead_letters().groups.group_some(100);
        break;
      case 1:
        start(i);
        world.pass(Duration(10));
        break;
      case 2:
        process((i + 5) % kQueues);
        break;
      case 3:
        merge_two(i);
        break;
      case 4:
        if (step % 5 == 0)
          engine().turn(
              [&](Turn& turn) { turn.commit(queue::QueuePurged{queue(dead_of(i)).key}); });
        break;
      default:
        world.clock.advance(seconds(9));
    }
  }
  std::string describe(store::Store& store) {
    store.state().advance_all(engine().now());
    while (store.state().bury(1000)) {
    }
    std::string text = store::describe_state(store.state(), store::Order::all_queues);
    for (const auto& [key, group] : store.state().groups()) {
      text += std::to_string(group.count) + " in group " + std::to_string(number(key)) + "\n";
    }
    return text;
  }
  void expect_checkpoint_is_whole() {
    store::Store loaded;
    for (const auto& record : world.journal.records()) {
      if (record.sequence < world.journal.checkpoint()) continue;
      ASSERT_TRUE(loaded.replay(record.at, record.payload).has_value());
    }
    EXPECT_EQ(loaded.state().orphans(), 0u);
    EXPECT_EQ(describe(loaded), describe(world.store()));
  }
};

TEST_F(CountingCheckpoint, IsWrittenBetweenOtherFacts) {
  for (int i = 0; i < 2000; ++i) do_something();
  engine().take_most_work();
  journal::Sequence before = world.journal.checkpoint();
  int checkpoints = 0;
  for (int i = 0; i < 3000 && checkpoints < 4; ++i) {
    ASSERT_TRUE(engine().maintain().has_value());
    do_something();
    ASSERT_TRUE(world.journal.sync_once().has_value());
    if (world.journal.checkpoint() == before) continue;
    before = world.journal.checkpoint();
    ++checkpoints;
    expect_checkpoint_is_whole();
  }
  EXPECT_EQ(checkpoints, 4);
  EXPECT_LE(engine().take_most_work(), kWorkBound);
}

TEST_F(CountingCheckpoint, OfManyGroupsAndJobsIsWrittenInSlices) {
  for (int i = 0; i < kQueues; ++i) {
    const queue::QueueKey key = queue(dead_of(i)).key;
    const std::string arn = identity_of(dead_of(i)).arn();
    engine().turn([&](Turn& turn) {
      for (std::uint32_t group = 1; group <= queue::kGroupsPerQueue; ++group) {
        queue::GroupIdentity identity{.id = {}, .basis = 0, .title = "t", .reason = "r"};
        identity.id[0] = static_cast<std::uint8_t>(group);
        identity.id[1] = static_cast<std::uint8_t>(group >> 8);
        turn.commit(queue::GroupLearned{next(turn.state().last_group()), key, identity});
      }
      for (int job = 0; job < 40; ++job) {
        const queue::TaskKey task = next(turn.state().last_task());
        turn.commit(queue::MoveTaskStarted{.task = task,
                                           .id = turn.ids().uuid(),
                                           .source = key,
                                           .source_arn = arn,
                                           .destination_arn = {}});
        turn.commit(queue::MoveTaskEnded{task, queue::TaskStatus::completed, {}});
      }
    });
  }
  engine().take_most_work();
  for (int i = 0; i < 1000 && world.journal.checkpoint() == 0; ++i) {
    ASSERT_TRUE(engine().maintain().has_value());
    ASSERT_TRUE(world.journal.sync_once().has_value());
  }
  ASSERT_GT(world.journal.checkpoint(), 0u);
  EXPECT_LE(engine().take_most_work(), kWorkBound);
  expect_checkpoint_is_whole();
}

// Documents are copied in portions, also when something comes or goes in between, and visited
// outside the turn.
TEST_F(BoundedTurns, DocumentsAreReadInPortions) {
  const auto put = [&](queue::EntryKind kind, const std::string& name, const std::string& value) {
    commit(queue::EntryPut{kind, name, value});
  };
  for (int i = 1000; i < 2000; ++i) put(queue::EntryKind::role, "a/" + std::to_string(i), "{}");
  put(queue::EntryKind::role, "b/1", "{}");
  put(queue::EntryKind::role_policy, "a/1", "{}");
  const std::string large(40u << 10, 'x');
  for (int i = 0; i < 10; ++i) put(queue::EntryKind::role, "a/9" + std::to_string(i), large);
  engine().take_most_work();
  std::vector<std::string> names;
  visit_documents(engine(),
                  queue::EntryKind::role,
                  "a/",
                  [&](const std::string& name, const std::string& text) {
                    names.push_back(name);
                    EXPECT_EQ(text, names.size() <= 1000 ? "{}" : large);
                    size("orders");  // The turn is free.
                    if (names.size() == 10)
                      commit(queue::EntryRemoved{queue::EntryKind::role, "a/1999"});
                    if (names.size() == 10) put(queue::EntryKind::role, "a/1999x", "{}");
                    return true;
                  });
  EXPECT_EQ(names.size(), 1010u);
  EXPECT_EQ(names[999], "a/1999x");
  EXPECT_LE(engine().take_most_work(), 200u);
  int seen = 0;
  visit_documents(
      engine(), queue::EntryKind::role, "", [&](const auto&, const auto&) { return ++seen < 100; });
  EXPECT_EQ(seen, 100);
}

TEST_F(BoundedTurns, DocumentsAreCountedByKind) {
  commit(queue::EntryPut{queue::EntryKind::alarm, "a", "{}"});
  commit(queue::EntryPut{queue::EntryKind::alarm, "a", "{}"});
  commit(queue::EntryPut{queue::EntryKind::alarm, "b", "{}"});
  commit(queue::EntryPut{queue::EntryKind::role, "b", "{}"});
  commit(queue::EntryRemoved{queue::EntryKind::alarm, "c"});
  EXPECT_EQ(state().count_entries(queue::EntryKind::alarm), 2u);
  commit(queue::EntryRemoved{queue::EntryKind::alarm, "a"});
  EXPECT_EQ(state().count_entries(queue::EntryKind::alarm), 1u);
  engine().reset();
  EXPECT_EQ(state().count_entries(queue::EntryKind::role), 0u);
}

}  // namespace
}  // namespace redrive::engine
