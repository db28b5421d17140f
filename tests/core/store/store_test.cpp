#include "core/store/store.h"

#include <gtest/gtest.h>

#include "tests/core/store/describe_state.h"
#include "tests/core/store/recording_journal.h"
#include "tests/core/store/traffic.h"

namespace redrive::store {
namespace {

// A store rebuilt from the records starting with `from`.
std::unique_ptr<Store> replayed(const RecordingJournal& journal, journal::Sequence from = 1) {
  auto store = std::make_unique<Store>();
  for (const auto& record : journal.records()) {
    if (record.sequence < from) continue;
    const auto result = store->replay(record.at, record.payload);
    EXPECT_TRUE(result.has_value()) << result.error().message;
  }
  return store;
}

void expect_equal(Store& live, Store& rebuilt, Timestamp now, Order order) {
  for (Store* store : {&live, &rebuilt}) {
    store->state().advance_all(now);
    while (store->state().bury(1000)) {
    }
  }
  ASSERT_EQ(describe_state(rebuilt.state(), order), describe_state(live.state(), order));
}

class StoreSeeds : public testing::TestWithParam<unsigned> {};

TEST_P(StoreSeeds, ReplayRebuildsAnEqualState) {
  RecordingJournal journal;
  Store live;
  ASSERT_TRUE(live.attach(journal).has_value());
  Traffic traffic(live, GetParam());
  for (int step = 0; step < 1'500; ++step) {
    traffic.step();
    if (step % 500 != 499) continue;
    const auto rebuilt = replayed(journal);
    EXPECT_EQ(rebuilt->last_stamp().now, live.last_stamp().now);
    expect_equal(live, *rebuilt, traffic.stamp().now, Order::all_queues);
  }
}

// The checkpoint is written in slices while traffic goes on; records before it are not needed.
TEST_P(StoreSeeds, ACheckpointWrittenInPassingRebuildsAnEqualState) {
  RecordingJournal journal(8192);  // Small records: many slices.
  Store live({.checkpoint_bytes_min = 20'000});
  ASSERT_TRUE(live.attach(journal).has_value());
  Traffic traffic(live, GetParam());
  int checkpoints = 0;
  journal::Sequence last = 0;
  for (int step = 0; step < 4'000; ++step) {
    traffic.step();
    if (step % 3 == 0) live.maintain(traffic.stamp());
    ASSERT_TRUE(journal.sync_once().has_value());
    ASSERT_TRUE(live.publish_checkpoint().has_value());
    if (journal.checkpoint() == last) continue;
    last = journal.checkpoint();
    ++checkpoints;
    const auto rebuilt = replayed(journal, last);
    ASSERT_NO_FATAL_FAILURE(expect_equal(live, *rebuilt, traffic.stamp().now, Order::fifo_queues))
        << "checkpoint " << checkpoints << ", step " << step;
    ASSERT_TRUE(rebuilt->attach(journal).has_value());
  }
  EXPECT_GE(checkpoints, 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoreSeeds, testing::Range(1u, 13u));

// ---- Individual cases.

struct StoreTest : testing::Test {
  RecordingJournal journal{4096};
  Store store{{.checkpoint_bytes_min = 1'000}};
  queue::Stamp stamp{.now = Timestamp(1'000'000), .wall = Timestamp(1'700'000'000'000)};

  StoreTest() {
    EXPECT_TRUE(store.attach(journal).has_value());
    commit(queue::ServerStarted{});
  }
  void commit(queue::Change change) { store.commit(stamp, std::span(&change, 1)); }

  queue::Queue& create(const std::string& name, bool fifo = false) {
    queue::QueueSettings settings;
    if (fifo) settings.fifo.emplace();
    const queue::QueueIdentity identity{"000000000000", "us-east-1", name};
    commit(queue::QueueCreated{next(store.state().last_queue()), {}, identity, settings, {}});
    return *store.state().find(identity);
  }
  queue::MessageKey send(const queue::Queue& queue, std::string_view body,
                         std::string_view dedup = "d", queue::seconds delay = {}) {
    std::string tail;
    encode_tail(tail, {.group = queue.settings.is_fifo() ? "g" : "", .dedup = dedup, .body = body});
    const queue::MessageKey key = next(store.state().last_key());
    commit(queue::MessageSent{.queue = queue.key,
                              .key = key,
                              .message_id = {},
                              .visible_at = stamp.now + delay,
                              .group = queue.settings.is_fifo() ? "g" : "",
                              .dedup = dedup,
                              .tail = tail,
                              .tail_crc = crc32c(tail),
                              .body = {}});
    return key;
  }
  const queue::Message& message(queue::MessageKey key) {
    return store.state().messages()[store.state().messages().find(key)];
  }
  std::string read(const queue::BodyRef& body) {
    std::string bytes(body.size, '\0');
    EXPECT_TRUE(store.read(body, bytes.data()).has_value());
    return bytes;
  }
  void begin_checkpoint() {
    while (!store.checkpointing()) {
      commit(queue::NameLearned{{}, "this fills the journal until a checkpoint is due"});
      store.maintain(stamp);
    }
  }
  void end_checkpoint() {
    for (int i = 0; store.checkpointing(); ++i) {
      ASSERT_LT(i, 100'000);
      store.maintain(stamp);
      ASSERT_TRUE(journal.sync_once().has_value());
    }
    ASSERT_TRUE(store.publish_checkpoint().has_value());
  }
  void write_checkpoint() {
    begin_checkpoint();
    end_checkpoint();
  }
};

TEST_F(StoreTest, TellsWhereTheBytesOfAMessageLie) {
  const queue::MessageKey key = send(create("orders"), "the body");
  const std::string bytes = read(message(key).body);
  const auto stored = decode_message(bytes);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->key, key);
  EXPECT_EQ(stored->contents.body, "the body");
  EXPECT_EQ(stored->sent_wall, stamp.wall);
}

TEST_F(StoreTest, SeveralMessagesOfOneRecordEachHaveTheirPlace) {
  const queue::Queue& queue = create("orders");
  std::vector<std::string> tails(3);
  std::vector<queue::Change> changes;
  for (std::size_t i = 0; i < tails.size(); ++i) {
    const std::string body(10 * (i + 1), static_cast<char>('a' + i));
    encode_tail(tails[i], {.body = body});
    changes.push_back(queue::MessageSent{.queue = queue.key,
                                         .key = static_cast<queue::MessageKey>(i + 1),
                                         .message_id = {},
                                         .visible_at = stamp.now,
                                         .group = {},
                                         .dedup = {},
                                         .tail = tails[i],
                                         .tail_crc = crc32c(tails[i]),
                                         .body = {}});
  }
  store.commit(stamp, changes);
  for (std::size_t i = 0; i < tails.size(); ++i) {
    const std::string bytes = read(message(static_cast<queue::MessageKey>(i + 1)).body);
    const auto stored = decode_message(bytes);
    ASSERT_TRUE(stored.has_value()) << i;
    EXPECT_EQ(stored->contents.body, std::string(10 * (i + 1), static_cast<char>('a' + i)));
  }
}

TEST_F(StoreTest, ARecordItCannotReadStopsTheReplay) {
  EXPECT_EQ(Store().replay({1, 64}, "short").error().code, ErrorCode::storage_damaged);
  EXPECT_EQ(Store().replay({1, 64}, std::string(16, '\0') + '\xff').error().code,
            ErrorCode::storage_damaged);
}

TEST_F(StoreTest, WithoutTheSegmentOfALiveMessageItDoesNotStart) {
  send(create("orders"), "body");
  const auto rebuilt = replayed(journal);
  RecordingJournal other;  // Has segment 1 ...
  EXPECT_TRUE(rebuilt->attach(other).has_value());

  for (int i = 0; i < 10; ++i) send(create("q" + std::to_string(i)), std::string(1'000, 'x'));
  const auto later = replayed(journal);  // ... but none of the later ones.
  RecordingJournal lacking;
  EXPECT_EQ(later->attach(lacking).error().code, ErrorCode::storage_damaged);
}

// Each FIFO queue's ids are written from the first one on.
TEST_F(StoreTest, ACheckpointHasTheDeduplicationIdsOfEveryQueue) {
  const int counts[] = {40, 1, 30, 7};
  for (std::size_t q = 0; q < std::size(counts); ++q) {
    const queue::Queue& queue = create("q" + std::to_string(q) + ".fifo", true);
    for (int i = 0; i < counts[q]; ++i) send(queue, "body", "d" + std::to_string(i));
  }
  write_checkpoint();
  const auto rebuilt = replayed(journal, journal.checkpoint());
  for (const auto& [identity, queue] : store.state().queues()) {
    EXPECT_EQ(rebuilt->state().find(identity)->dedup.size(), queue->dedup.size()) << identity.name;
  }
  expect_equal(store, *rebuilt, stamp.now, Order::fifo_queues);
}

// A queue that is deleted while its ids are being written: those of the next queue are still
// written from the first one on.
TEST_F(StoreTest, ACheckpointHasAllDeduplicationIdsWhenTheQueueBeforeIsDeleted) {
  for (int slices = 1; slices <= 100; ++slices) {
    const std::string number = std::to_string(slices);
    const queue::QueueKey gone = create("a" + number + ".fifo", true).key;
    const queue::Queue& stays = create("b" + number + ".fifo", true);
    for (int i = 0; i < 9; ++i) {
      send(*store.state().find(gone), "body", "a" + std::to_string(i));
      send(stays, "body", "b" + std::to_string(i));
    }
    begin_checkpoint();
    for (int i = 0; i < slices; ++i) store.maintain(stamp);
    commit(queue::QueueDeleted{gone});
    end_checkpoint();
    const auto rebuilt = replayed(journal, journal.checkpoint());
    ASSERT_EQ(rebuilt->state().find(stays.identity)->dedup.size(), 9u) << slices;
    commit(queue::QueueDeleted{stays.key});
  }
}

TEST_F(StoreTest, ACheckpointHasTheNamesThatWereDeletedLately) {
  const queue::Queue& queue = create("orders");
  const queue::QueueIdentity identity = queue.identity;
  commit(queue::QueueDeleted{queue.key});
  write_checkpoint();
  const auto rebuilt = replayed(journal, journal.checkpoint());
  EXPECT_EQ(rebuilt->state().deleted_at(identity, stamp.now), stamp.now);
  EXPECT_FALSE(rebuilt->state().deleted_at(identity, stamp.now + queue::seconds(61)).has_value());
}

// The attempt is recorded before the slice that contains its messages.
TEST_F(StoreTest, ACheckpointHasTheReceiveAttemptsMadeWhileItWasWritten) {
  const queue::Queue& queue = create("orders.fifo", true);
  const queue::MessageKey key = send(queue, "body");
  begin_checkpoint();
  queue::MessagesReceived received{};
  received.queue = queue.key;
  received.visible_at = stamp.now + queue::seconds(30);
  received.count = 1;
  received.keys[0] = key;
  received.attempt_id = "attempt";
  commit(received);
  end_checkpoint();
  const auto rebuilt = replayed(journal, journal.checkpoint());
  const auto& attempts = rebuilt->state().find(queue.identity)->receive_attempts;
  ASSERT_TRUE(attempts.contains("attempt"));
  EXPECT_EQ(attempts.find("attempt")->second.messages.size(), 1u);
  expect_equal(store, *rebuilt, stamp.now, Order::fifo_queues);
}

// A checkpoint of an untouched backlog takes a few bytes per message, whichever queues they are in;
// messages sent while it is written are in it or after it.
TEST_F(StoreTest, ACheckpointOfABacklogIsSmall) {
  const queue::Queue* queues[] = {&create("orders"), &create("returns")};
  for (int i = 0; i < 2'000; ++i) {
    send(*queues[i / 10 % 2], "body");
    if (i % 10 == 9) stamp.now = stamp.now + Duration(1);
  }
  begin_checkpoint();
  for (int i = 0; i < 3; ++i) {
    store.maintain(stamp);
    send(*queues[0], "late", "d", queue::seconds(i));
  }
  end_checkpoint();
  std::size_t bytes = 0;
  for (const auto& record : journal.records()) {
    if (record.sequence >= journal.checkpoint()) bytes += record.payload.size();
  }
  EXPECT_LT(bytes, 2'000u * 12);
  const auto rebuilt = replayed(journal, journal.checkpoint());
  EXPECT_EQ(rebuilt->state().messages().size(), 2'003u);
  expect_equal(store, *rebuilt, stamp.now, Order::all_queues);
}

TEST_F(StoreTest, ACheckpointOfABigQueueTakesManySlices) {
  const queue::Queue& queue = create("orders");
  for (int i = 0; i < 3'000; ++i) send(queue, "body");
  begin_checkpoint();
  int slices = 0;
  const std::size_t records = journal.records().size();
  for (; store.checkpointing(); ++slices) {
    store.maintain(stamp);
    ASSERT_TRUE(journal.sync_once().has_value());
  }
  EXPECT_GT(slices, 5);
  EXPECT_GT(journal.records().size(), records + 5);
  ASSERT_TRUE(store.publish_checkpoint().has_value());
  const auto rebuilt = replayed(journal, journal.checkpoint());
  expect_equal(store, *rebuilt, stamp.now, Order::all_queues);
}

TEST_F(StoreTest, NoCheckpointIsDueBeforeItsBytesAre) {
  EXPECT_FALSE(store.maintain(stamp));
  EXPECT_FALSE(store.checkpointing());
  write_checkpoint();
  store.maintain(stamp);
  EXPECT_FALSE(store.checkpointing());
}

TEST_F(StoreTest, ACheckpointCountsOnlyOnceItIsDurable) {
  create("orders");
  begin_checkpoint();
  for (int i = 0; i < 100; ++i) store.maintain(stamp);  // Nothing is synced.
  EXPECT_TRUE(store.checkpointing());
  ASSERT_TRUE(store.publish_checkpoint().has_value());
  EXPECT_EQ(journal.checkpoint(), 0u);
  end_checkpoint();
  EXPECT_NE(journal.checkpoint(), 0u);
}

// Released space can be reused once a later record is durable. On an idle server there is none
// unless the store writes one.
TEST_F(StoreTest, ARecordFollowsBytesThatWereLetGo) {
  const queue::MessageKey key = send(create("orders"), "body");
  commit(queue::MessageDeleted{store.state().queue_of(store.state().messages().find(key)), key});
  const journal::Sequence before = journal.appended();
  stamp.now = stamp.now + Duration(999);
  store.maintain(stamp);
  EXPECT_EQ(journal.appended(), before);
  stamp.now = stamp.now + Duration(1);
  store.maintain(stamp);
  EXPECT_EQ(journal.appended(), before + 1);
  EXPECT_EQ(store.last_stamp().now, stamp.now);
  stamp.now = stamp.now + Duration(5'000);
  store.maintain(stamp);  // Nothing was released since.
  EXPECT_EQ(journal.appended(), before + 1);
}

// ---- Compaction: the remaining messages move out of nearly empty segments.

struct Compaction : StoreTest {
  queue::Queue& queue = create("orders");

  // Several segments of messages of which every tenth is kept.
  std::vector<queue::MessageKey> fill() {
    std::vector<queue::MessageKey> kept;
    for (int i = 0; i < 200; ++i) {
      const queue::MessageKey key = send(queue, std::string(400, 'x') + std::to_string(i));
      if (i % 10 == 0) kept.push_back(key);
    }
    for (int i = 0; i < 200; ++i) {
      if (i % 10 != 0)
        commit(queue::MessageDeleted{queue.key, static_cast<queue::MessageKey>(i + 1)});
    }
    return kept;
  }
  std::size_t relocate_all() {
    std::size_t moved = 0;
    for (int i = 0; i < 1'000; ++i) {
      auto chosen = store.choose_relocations();
      if (chosen.empty()) break;
      for (auto& relocation : chosen) relocation.stored = read(relocation.from);
      moved += chosen.size();
      store.relocate(stamp, chosen);
    }
    return moved;
  }
};

TEST_F(Compaction, MovesMessagesOutOfNearlyEmptySegments) {
  const std::vector<queue::MessageKey> kept = fill();
  write_checkpoint();
  const std::size_t segments = journal.usage().size();
  EXPECT_GE(relocate_all(), kept.size() - 2);
  EXPECT_EQ(journal.pins(), 0);
  for (const queue::MessageKey key : kept) {
    const std::string bytes = read(message(key).body);
    const auto stored = decode_message(bytes);
    ASSERT_TRUE(stored.has_value());
    EXPECT_EQ(stored->key, key);
    EXPECT_EQ(stored->contents.body, std::string(400, 'x') + std::to_string(number(key) - 1));
  }
  ASSERT_TRUE(journal.housekeep().has_value());
  EXPECT_LT(journal.usage().size(), segments / 2);
}

TEST_F(Compaction, SurvivesReplay) {
  fill();
  write_checkpoint();
  ASSERT_GT(relocate_all(), 0u);
  expect_equal(store, *replayed(journal), stamp.now, Order::all_queues);
  expect_equal(store, *replayed(journal, journal.checkpoint()), stamp.now, Order::all_queues);
}

TEST_F(Compaction, LeavesWhatTheReplayStillNeeds) {
  fill();  // No checkpoint: every segment is still replayed at a start.
  EXPECT_TRUE(store.choose_relocations().empty());
}

TEST_F(Compaction, AMessageDeletedWhileItWasReadDoesNotMove) {
  fill();
  write_checkpoint();
  auto chosen = store.choose_relocations();
  ASSERT_FALSE(chosen.empty());
  for (auto& relocation : chosen) relocation.stored = read(relocation.from);
  const queue::MessageKey gone = chosen[0].key;
  commit(queue::MessageDeleted{queue.key, gone});
  store.relocate(stamp, chosen);
  EXPECT_EQ(store.state().messages().find(gone), queue::kNoSlot);
  EXPECT_EQ(journal.pins(), 0);
  expect_equal(store, *replayed(journal), stamp.now, Order::all_queues);
}

TEST_F(Compaction, AMessageEditedWhileItWasReadKeepsItsNewBody) {
  fill();
  write_checkpoint();
  auto chosen = store.choose_relocations();
  ASSERT_FALSE(chosen.empty());
  for (auto& relocation : chosen) relocation.stored = read(relocation.from);
  const queue::MessageKey edited = chosen[0].key;
  const std::string old = chosen[0].stored;
  StoredMessage message = decode_message(old).value();
  MessageContents contents = message.contents;
  contents.body = "corrected";
  const std::string stored = encode_message(message, contents);
  commit(queue::MessageEdited{edited, {}, {}, stored, {}});
  store.relocate(stamp, chosen);
  EXPECT_EQ(read(this->message(edited).body), stored);
  EXPECT_EQ(journal.pins(), 0);
  expect_equal(store, *replayed(journal), stamp.now, Order::all_queues);
}

TEST_F(Compaction, AMessageThatCannotBeReadStaysWhereItIs) {
  fill();
  write_checkpoint();
  auto chosen = store.choose_relocations();
  ASSERT_FALSE(chosen.empty());
  const queue::BodyRef before = message(chosen[0].key).body;
  store.relocate(stamp, chosen);  // None was read.
  EXPECT_EQ(message(chosen[0].key).body, before);
  EXPECT_EQ(journal.pins(), 0);
}

}  // namespace
}  // namespace redrive::store
