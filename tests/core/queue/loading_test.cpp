#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/core/queue/world.h"

// Reading a checkpoint back. Its parts come in any order and other facts come between them; what is
// there at the end is what was there when it ended.

namespace redrive::queue {
namespace {

struct Parts {
  std::vector<Change> head;  // What a checkpoint says at once.
  std::vector<Change> messages;
};

Parts parts_of(const State& state) {
  Parts parts;
  parts.head.push_back(CheckpointBegun{.last_key = state.last_key(),
                                       .last_queue = state.last_queue(),
                                       .last_task = state.last_task(),
                                       .name_count = 0,
                                       .secret = state.secret()});
  for (std::size_t i = 1; i < state.names().size(); ++i) {
    parts.head.push_back(NameLearned{static_cast<NameIndex>(i), state.names()[i]});
  }
  for (const auto& [identity, queue] : state.queues()) {
    parts.head.push_back(
        QueueSnapshot{.created = {queue->key, queue->arn, identity, queue->settings, queue->tags},
                      .created_wall = queue->created_wall,
                      .modified_wall = queue->modified_wall,
                      .purged_at = queue->purged_at});
  }
  const MessageTable& table = state.messages();
  for (Slot slot = 0; slot < table.end(); ++slot) {
    const Message& message = table[slot];
    if (message.key == MessageKey::none || state.is_buried(slot)) continue;
    const History* history = table.history_if(slot);
    // Both ways to say it are the same, where there is nothing to say but that it waits.
    if (message.phase == Phase::visible && message.receive_count == 0 && history == nullptr &&
        message.group == 0 && slot % 2 == 0) {
      parts.messages.push_back(WaitingSnapshot{{{.key = message.key,
                                                 .queue = state.queue_of(slot),
                                                 .body = message.body,
                                                 .visible_at = message.visible_at,
                                                 .sent_at = message.sent_at}}});
      continue;
    }
    parts.messages.push_back(MessageSnapshot{
        .key = message.key,
        .queue = state.queue_of(slot),
        .body = message.body,
        .visible_at = message.visible_at,
        .sent_at = message.sent_at,
        .receive_count = message.receive_count,
        .phase = static_cast<std::uint8_t>(message.phase),
        .visibility_touched = message.visibility_touched,
        .group = state.group_of(slot),
        .history = nullptr,
        .restored = history == nullptr ? nullptr : std::make_shared<History>(*history)});
  }
  return parts;
}

// A second server that reads the first one's checkpoint.
class Loaded {
 public:
  explicit Loaded(const World& from) : stamp_(from.stamp) {}

  void apply(std::span<const Change> changes) {
    for (const Change& change : changes) state.apply(change, stamp_);
  }
  void apply(const Change& change) { state.apply(change, stamp_); }
  void pass(Duration time) { stamp_.now = stamp_.now + time; }

  Queue& queue(const char* name) { return *state.find(identity_of(name)); }
  Keys walk(const char* name) {
    state.advance(queue(name), stamp_.now);
    Keys keys;
    ReadyWalk ready(state.mailbox(queue(name)));
    for (Slot slot = ready.next(); slot != kNoSlot; slot = ready.next()) {
      keys.push_back(number(state.messages()[slot].key));
    }
    return keys;
  }

  CountingLedger ledger;
  State state{ledger};

 private:
  Stamp stamp_;
};

class ShuffledCheckpoint : public testing::TestWithParam<int> {};

// Fresh messages, such that came back, FIFO groups, some in flight, some delayed.
TEST_P(ShuffledCheckpoint, GivesTheSameWalkInWhateverOrderItsMessagesCome) {
  World world;
  Queue& queue = world.create("orders");
  Queue& fifo = world.create("orders.fifo", fifo_settings());
  for (int i = 0; i < 20; ++i) {
    world.send(queue, {.delay = seconds(i % 5 == 4 ? 900 : 0)});
    world.send(fifo, {.group = i % 3 == 0 ? "a" : "b"});
    world.pass(Duration(10));
  }
  world.receive(queue, {.max = 5, .visibility = seconds(2)});
  world.receive(queue, {.max = 3, .visibility = seconds(1)});
  world.receive(queue, {.max = 2, .visibility = seconds(60)});
  world.receive(fifo, {.max = 2, .visibility = seconds(60)});
  world.pass(seconds(3));
  const Keys walk = world.walk(queue);
  const Keys fifo_walk = world.walk(fifo);

  Parts parts = parts_of(world.state);
  std::ranges::shuffle(parts.messages, std::mt19937(static_cast<unsigned>(GetParam())));
  Loaded loaded(world);
  loaded.apply(parts.head);
  loaded.apply(parts.messages);
  loaded.apply(CheckpointEnded{});

  EXPECT_EQ(loaded.walk("orders"), walk);
  EXPECT_EQ(loaded.walk("orders.fifo"), fifo_walk);
  for (Queue* original : {&queue, &fifo}) {
    const Mailbox& was = world.state.mailbox(*original);
    const Mailbox& is = loaded.state.mailbox(*loaded.state.find(original->key));
    EXPECT_EQ(is.visible(), was.visible());
    EXPECT_EQ(is.in_flight(), was.in_flight());
    EXPECT_EQ(is.delayed(), was.delayed());
    EXPECT_EQ(is.groups(), was.groups());
    EXPECT_EQ(is.next_visible_at(), was.next_visible_at());
    EXPECT_EQ(loaded.state.messages()[is.oldest()].key, world.state.messages()[was.oldest()].key);
  }
  EXPECT_EQ(loaded.ledger.bytes(), world.ledger.bytes());
  EXPECT_EQ(loaded.state.last_key(), world.state.last_key());
  EXPECT_EQ(loaded.state.secret(), world.state.secret());
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShuffledCheckpoint, testing::Range(1, 6));

// ---- Facts between the parts of a checkpoint.

struct FactsBetween : testing::Test {
  World world;
  Queue& queue = world.create("orders");

  static MessagesReceived received(Queue& from, std::uint64_t key, Timestamp visible_at) {
    MessagesReceived fact{};
    fact.queue = from.key;
    fact.visible_at = visible_at;
    fact.count = 1;
    fact.keys[0] = static_cast<MessageKey>(key);
    return fact;
  }
};

TEST_F(FactsBetween, AboutMessagesNotYetBroughtArePassedOver) {
  world.send(queue);
  const Parts early = parts_of(world.state);
  const Change taken = received(queue, 1, world.stamp.now + seconds(30));
  world.apply(taken);
  const Parts late = parts_of(world.state);

  Loaded loaded(world);
  loaded.apply(early.head);
  loaded.apply(taken);
  loaded.apply(late.messages);  // Already contains the receive.
  loaded.apply(CheckpointEnded{});
  EXPECT_EQ(loaded.state.messages()[loaded.state.messages().find(MessageKey{1})].receive_count, 1u);
  EXPECT_EQ(loaded.state.mailbox(loaded.queue("orders")).in_flight(), 1u);
  EXPECT_EQ(loaded.state.orphans(), 0u);
}

TEST_F(FactsBetween, AboutMessagesAlreadyBroughtAreApplied) {
  for (int i = 0; i < 3; ++i) world.send(queue);
  const Parts parts = parts_of(world.state);
  Loaded loaded(world);
  loaded.apply(parts.head);
  loaded.apply(parts.messages);
  loaded.apply(MessageDeleted{queue.key, MessageKey{2}});
  loaded.apply(received(queue, 1, world.stamp.now + seconds(30)));
  loaded.apply(VisibilityChanged{queue.key, MessageKey{1}, world.stamp.now});
  loaded.apply(CheckpointEnded{});
  EXPECT_EQ(loaded.walk("orders"), (Keys{1, 3}));
  EXPECT_EQ(loaded.ledger.bytes(), 2 * World::kBodyBytes);
}

// Nothing advances while a checkpoint is read, yet the fact speaks of a message that had become
// visible by then.
TEST_F(FactsBetween, AReceiveMeetsAMessageWhoseDelayIsOver) {
  world.send(queue, {.delay = seconds(1)});
  const Parts parts = parts_of(world.state);
  Loaded loaded(world);
  loaded.apply(parts.head);
  loaded.apply(parts.messages);
  loaded.pass(seconds(2));
  loaded.apply(received(queue, 1, world.stamp.now + seconds(32)));
  loaded.apply(CheckpointEnded{});
  EXPECT_EQ(loaded.state.mailbox(loaded.queue("orders")).in_flight(), 1u);
  EXPECT_EQ(loaded.state.mailbox(loaded.queue("orders")).delayed(), 0u);
  loaded.pass(seconds(30));
  EXPECT_EQ(loaded.walk("orders"), Keys{1});
}

TEST_F(FactsBetween, AReceiveMeetsAMessageWhoseTimeoutIsOver) {
  world.send(queue);
  world.receive(queue, {.visibility = seconds(1)});
  const Parts parts = parts_of(world.state);
  Loaded loaded(world);
  loaded.apply(parts.head);
  loaded.apply(parts.messages);
  loaded.pass(seconds(2));
  loaded.apply(received(queue, 1, world.stamp.now + seconds(32)));
  loaded.apply(CheckpointEnded{});
  EXPECT_EQ(loaded.state.mailbox(loaded.queue("orders")).in_flight(), 1u);
  EXPECT_EQ(loaded.state.messages()[loaded.state.messages().find(MessageKey{1})].receive_count, 2u);
}

TEST_F(FactsBetween, ANewDelayOfAFifoQueueHoldsForWhatWasBrought) {
  QueueSettings settings = fifo_settings();
  settings.delay = seconds(600);
  Queue& fifo = world.create("orders.fifo", settings);
  world.send(fifo, {.group = "g"});
  const Parts parts = parts_of(world.state);
  Loaded loaded(world);
  loaded.apply(parts.head);
  loaded.apply(parts.messages);
  settings.delay = seconds(5);
  loaded.apply(QueueSettingsChanged{fifo.key, settings});
  loaded.apply(CheckpointEnded{});
  loaded.pass(seconds(5));
  EXPECT_EQ(loaded.walk("orders.fifo"), Keys{1});
}

// Messages that had expired when a longer retention was set do not come back.
TEST_F(FactsBetween, ALongerRetentionRevivesNothing) {
  QueueSettings settings;
  settings.retention = seconds(60);
  world.change(queue, settings);
  world.send(queue);
  const Parts parts = parts_of(world.state);
  Loaded loaded(world);
  loaded.apply(parts.head);
  loaded.apply(parts.messages);
  loaded.pass(seconds(61));
  settings.retention = seconds(3600);
  loaded.apply(QueueSettingsChanged{queue.key, settings});
  loaded.apply(CheckpointEnded{});
  EXPECT_EQ(loaded.walk("orders"), Keys{});
  EXPECT_EQ(loaded.state.messages().size(), 0u);
}

TEST_F(FactsBetween, APurgeTakesWhatWasBroughtAndLeavesWhatCameLater) {
  world.send(queue);
  const Parts parts = parts_of(world.state);
  Loaded loaded(world);
  loaded.apply(parts.head);
  loaded.apply(parts.messages);
  loaded.apply(QueuePurged{queue.key});
  MessageSent sent{};
  sent.queue = queue.key;
  sent.key = MessageKey{2};
  sent.visible_at = world.stamp.now;
  loaded.apply(sent);
  loaded.apply(CheckpointEnded{});
  EXPECT_EQ(loaded.walk("orders"), Keys{2});
  EXPECT_FALSE(loaded.state.bury(10));
  EXPECT_EQ(loaded.state.messages().size(), 1u);
}

TEST_F(FactsBetween, ADeletedQueueLeavesNothingBehind) {
  world.send(queue);
  const Parts parts = parts_of(world.state);
  Loaded loaded(world);
  loaded.apply(parts.head);
  loaded.apply(parts.messages);
  loaded.apply(QueueDeleted{queue.key});
  loaded.apply(CheckpointEnded{});
  EXPECT_TRUE(loaded.state.queues().empty());
  EXPECT_FALSE(loaded.state.bury(10));
  EXPECT_EQ(loaded.ledger.bytes(), 0);
}

TEST_F(FactsBetween, AResetLeavesNothingBehind) {
  world.send(queue);
  const Parts parts = parts_of(world.state);
  Loaded loaded(world);
  loaded.apply(parts.head);
  loaded.apply(parts.messages);
  loaded.apply(ServerReset{});
  loaded.apply(CheckpointEnded{});
  EXPECT_TRUE(loaded.state.queues().empty());
  EXPECT_FALSE(loaded.state.bury(10));
  EXPECT_EQ(loaded.ledger.bytes(), 0);
}

// A queue that is created again while a checkpoint writes names: its consumers may be mentioned
// before their names are learned.
TEST_F(FactsBetween, AConsumerWhoseNameComesLaterCountsForItsCode) {
  const NameIndex worker = world.name("worker");
  const QueueCreated again{next(queue.key), queue.arn, queue.identity, {}, {}};
  world.apply(QueueDeleted{queue.key});
  const Parts parts = parts_of(world.state);
  Loaded loaded(world);
  const auto process = [&](std::uint64_t key) {
    MessageSent sent{};
    sent.queue = again.queue;
    sent.key = static_cast<MessageKey>(key);
    loaded.apply(sent);
    MessagesReceived taken = received(loaded.queue("orders"), key, world.stamp.now + seconds(30));
    taken.by = worker;
    loaded.apply(taken);
    loaded.apply(MessageDeleted{again.queue, sent.key});
  };
  loaded.apply(parts.head.front());
  loaded.apply(again);
  process(1);
  loaded.apply(std::span(parts.head).subspan(1));
  loaded.apply(CheckpointEnded{});
  process(2);
  const auto& uses = loaded.queue("orders").codes.all();
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(loaded.state.code_key(uses.front().code), "worker");
}

// A replay that began before a checkpoint meets it as well: it changes nothing.
TEST_F(FactsBetween, ACheckpointInPassingIsIgnored) {
  world.send(queue);
  const Parts parts = parts_of(world.state);
  for (const Change& change : parts.head) world.apply(change);
  world.send(queue);
  for (const Change& change : parts.messages) world.apply(change);
  world.apply(CheckpointEnded{});
  EXPECT_EQ(world.walk(queue), (Keys{1, 2}));
  EXPECT_EQ(world.ledger.bytes(), 2 * World::kBodyBytes);
}

// Jobs, groups and rules come behind the messages, those of one queue in one step, with other facts
// between the steps.
struct CountsOfACheckpoint : testing::Test {
  World world;
  Queue& work = world.create("work", [] {
    QueueSettings settings;
    settings.retention = seconds(100);
    return settings;
  }());
  Queue& dead = world.create("dead");

  static GroupIdentity group_called(std::uint32_t number) {
    GroupIdentity identity{.id = {}, .basis = 0, .title = "t", .reason = "r"};
    for (int i = 0; i < 4; ++i) identity.id[i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
    return identity;
  }
  // Like those of a checkpoint that is written now.
  GroupSnapshot snapshot_of(const FailureGroup& group) {
    return {.learned = {group.key, group.queue, group.identity},
            .status = group.status,
            .note = group.note,
            .marked_by = group.marked_by,
            .restored = std::make_shared<GroupArrivals>(group.arrivals)};
  }
  void begin(Loaded& loaded) {
    const Parts parts = parts_of(world.state);
    loaded.apply(parts.head);
    loaded.apply(parts.messages);
    loaded.apply(CheckpointMessagesEnded{});
  }
  // A fact while the checkpoint is written: it is in the log, too.
  void happens(Loaded& loaded, const Change& change) {
    world.apply(change);
    loaded.apply(change);
  }
  void end(Loaded& loaded) {
    loaded.apply(CheckpointCounted{dead.key});
    loaded.apply(CheckpointEnded{});
  }
};

TEST_F(CountsOfACheckpoint, AGroupThatCameAndWentBeforeItsQueueIsNotThere) {
  for (std::uint32_t i = 1; i <= kGroupsPerQueue; ++i) {
    world.apply(GroupLearned{static_cast<FailureGroupKey>(i), dead.key, group_called(i + 10)});
  }
  Loaded loaded(world);
  begin(loaded);
  // The first makes room by one of those, the second by the first, whose id is the lowest.
  happens(loaded, GroupLearned{FailureGroupKey{2001}, dead.key, group_called(1)});
  happens(loaded, GroupLearned{FailureGroupKey{2002}, dead.key, group_called(2)});
  ASSERT_EQ(world.state.find_group(FailureGroupKey{2001}), nullptr);
  for (const FailureGroup* group : world.state.groups_in(dead.key)) {
    loaded.apply(snapshot_of(*group));
  }
  end(loaded);
  EXPECT_EQ(loaded.state.find_group(FailureGroupKey{2001}), nullptr);
  EXPECT_EQ(loaded.state.groups_of(dead.key), kGroupsPerQueue);
}

TEST_F(CountsOfACheckpoint, MembersOfAGroupAreCountedWithWhatWasGroupedMeanwhile) {
  world.send(dead);
  world.send(dead);
  world.apply(GroupLearned{FailureGroupKey{1}, dead.key, group_called(1)});
  world.apply(MessageGrouped{MessageKey{1}, dead.key, FailureGroupKey{1}});
  Loaded loaded(world);
  begin(loaded);
  happens(loaded, MessageGrouped{MessageKey{2}, dead.key, FailureGroupKey{1}});
  loaded.apply(snapshot_of(*world.state.find_group(FailureGroupKey{1})));
  loaded.apply(CheckpointCounted{dead.key});
  happens(loaded, MessageDeleted{dead.key, MessageKey{1}});
  loaded.apply(CheckpointEnded{});
  EXPECT_EQ(world.state.find_group(FailureGroupKey{1})->count, 1u);
  EXPECT_EQ(loaded.state.find_group(FailureGroupKey{1})->count, 1u);
  EXPECT_EQ(loaded.state.find_group(FailureGroupKey{1})->arrivals.total, 2u);
}

// Of what had expired when the job's snapshot was written, the snapshot knows.
TEST_F(CountsOfACheckpoint, WhatExpiredBeforeAJobsSnapshotIsCountedOnce) {
  world.send(dead);
  const std::string arn = dead.identity.arn();
  const MoveTaskStarted started{.task = TaskKey{1},
                                .id = Uuid{{1}},
                                .source = dead.key,
                                .source_arn = arn,
                                .destination_arn = {}};
  world.apply(started);
  world.apply(MessageRedriven{.task = TaskKey{1},
                              .key = MessageKey{1},
                              .from = dead.key,
                              .to = work.key,
                              .message_id = Uuid{{2}},
                              .sequence = 2});
  Loaded loaded(world);
  begin(loaded);
  world.pass(seconds(101));
  loaded.pass(seconds(101));
  world.state.advance(work, world.stamp.now);
  const MoveTask& task = *world.state.find_task(TaskKey{1});
  ASSERT_EQ(task.counts.gone, 1u);
  loaded.apply(TaskSnapshot{
      .started = started, .status = task.status, .counts = task.counts, .forgiven = {}});
  end(loaded);
  loaded.state.advance(loaded.queue("work"), world.stamp.now);
  EXPECT_EQ(loaded.state.find_task(TaskKey{1})->counts.gone, 1u);
  EXPECT_EQ(loaded.state.mailbox(loaded.queue("work")).size(), 0u);
}

TEST_F(CountsOfACheckpoint, ARuleAddsNoArrivalsThatAreInTheSnapshots) {
  world.apply(GroupLearned{FailureGroupKey{1}, dead.key, group_called(1)});
  world.apply(GroupLearned{FailureGroupKey{2}, dead.key, group_called(2)});
  const GroupRule rule{.number = 1, .from = group_called(1).id, .into = group_called(2)};
  world.apply(GroupRuled{dead.key, rule});
  world.send(dead);
  world.apply(MessageGrouped{MessageKey{1}, dead.key, FailureGroupKey{1}});
  Loaded loaded(world);
  begin(loaded);
  for (const FailureGroup* group : world.state.groups_in(dead.key)) {
    loaded.apply(snapshot_of(*group));
  }
  loaded.apply(GroupRuled{dead.key, rule});
  end(loaded);
  EXPECT_EQ(loaded.state.find_group(FailureGroupKey{1})->arrivals.total, 1u);
  EXPECT_EQ(loaded.state.find_group(FailureGroupKey{2})->arrivals.total, 0u);
  EXPECT_EQ(loaded.state.new_group_rules().size(), 1u);
}

// The same facts in a journal that is replayed past the checkpoint change nothing.
TEST_F(CountsOfACheckpoint, InPassingIsIgnored) {
  world.apply(GroupLearned{FailureGroupKey{1}, dead.key, group_called(1)});
  GroupSnapshot other = snapshot_of(*world.state.find_group(FailureGroupKey{1}));
  other.learned.group = FailureGroupKey{9};
  other.learned.identity = group_called(9);
  world.apply(CheckpointMessagesEnded{});
  world.apply(other);
  world.apply(CheckpointCounted{dead.key});
  world.apply(CheckpointEnded{});
  EXPECT_EQ(world.state.groups_of(dead.key), 1u);
}

}  // namespace
}  // namespace redrive::queue
