#include <gtest/gtest.h>

#include "core/journal/format.h"
#include "core/store/check_messages.h"
#include "core/store/store.h"
#include "sim/faulty_files.h"

// Starting, and the tools, with messages whose bytes have changed on disk.

namespace redrive::store {
namespace {

constexpr journal::Options kSmallSegments{
    .segment_bytes = 16u << 10, .tail_cache_bytes = 0, .spare_segments = 1};
constexpr queue::Stamp kDamageStamp{.now = Timestamp(1'000), .wall = Timestamp(1'000)};

// A store with its own files.
struct OnDisk {
  Store store{{.checkpoint_bytes_min = 20'000}};
  journal::Recovered recovered;
  std::unique_ptr<journal::Journal> journal;

  Result<void> open(journal::Files& files) {
    const auto replay = [&](journal::Sequence, journal::Location at, std::string_view payload) {
      return store.replay(at, payload);
    };
    journal = TRY(journal::open_journal(files, kSmallSegments, replay, recovered, explain_damage));
    return store.attach(*journal);
  }
  void commit(std::vector<queue::Change> changes) {
    store.commit(kDamageStamp, changes);
    ASSERT_TRUE(journal->sync_once().has_value());
  }
};

struct DamageOnDisk : testing::Test {
  sim::FaultyFiles files;
  queue::BodyRef middle;  // Of three messages sent in one record.

  void SetUp() override {
    OnDisk first;
    ASSERT_TRUE(first.open(files).has_value());
    const std::string arn = queue::QueueIdentity{"0", "r", "line.fifo"}.arn();
    queue::QueueSettings settings;
    settings.fifo.emplace();
    first.commit({queue::ServerStarted{},
                  queue::NameLearned{static_cast<queue::NameIndex>(1), arn},
                  queue::QueueCreated{static_cast<queue::QueueKey>(1),
                                      static_cast<queue::NameIndex>(1),
                                      {"0", "r", "line.fifo"},
                                      settings,
                                      {}}});
    std::vector<std::string> tails(3);
    std::vector<queue::Change> sent;
    for (std::uint64_t i = 0; i < tails.size(); ++i) {
      const std::string dedup = "d" + std::to_string(i);
      encode_tail(tails[i], {.group = "g", .dedup = dedup, .body = "the body of a message"});
      sent.push_back(queue::MessageSent{.queue = static_cast<queue::QueueKey>(1),
                                        .key = static_cast<queue::MessageKey>(i + 1),
                                        .message_id = Uuid{{7}},
                                        .visible_at = kDamageStamp.now,
                                        .group = "g",
                                        .dedup = "d",
                                        .tail = tails[i],
                                        .tail_crc = crc32c(tails[i]),
                                        .body = {}});
    }
    first.commit(std::move(sent));
    middle = first.store.state().messages()[1].body;
    OnDisk second;  // Seals the segment.
    ASSERT_TRUE(second.open(files).has_value());
  }

  void flip(std::uint32_t offset) {
    files.flip_bit(journal::segment_name(middle.segment), middle.offset + offset, 3);
  }
};

TEST_F(DamageOnDisk, InTheContentsOfAMessageKeepsNothingElseFromTheStart) {
  for (std::uint32_t at = kMessageHeadBytes; at < middle.size; ++at) {
    flip(at);
    OnDisk again;
    ASSERT_TRUE(again.open(files).has_value()) << at;
    EXPECT_EQ(again.recovered.explained, 1u);
    EXPECT_EQ(again.store.damaged_segments(), std::set{middle.segment});
    const queue::State& state = again.store.state();
    EXPECT_EQ(state.messages().size(), 3u);
    std::string bytes;
    for (queue::Slot slot = 0; slot < 3; ++slot) {
      const queue::Message& message = state.messages()[slot];
      const auto stored = again.store.read_message(message.key, message.body, bytes);
      EXPECT_EQ(stored.has_value(), slot != 1) << at;
    }
    if (at >= kMessageHeadBytes + kTailTextsAt + 3) EXPECT_EQ(state.group_of(1), "g") << at;
    flip(at);
  }
}

// Neither the message nor its visibility can be recovered.
TEST_F(DamageOnDisk, InTheHeadOfAMessageRefusesTheStart) {
  for (std::uint32_t at = 0; at < kMessageHeadBytes; ++at) {
    flip(at);
    OnDisk again;
    const auto opened = again.open(files);
    ASSERT_FALSE(opened.has_value()) << at;
    EXPECT_EQ(opened.error().code, ErrorCode::storage_damaged) << at;
    flip(at);
  }
}

TEST_F(DamageOnDisk, IsNamedByTheCheckAndLeftAloneByTheRepair) {
  EXPECT_TRUE(check_messages(files)->healthy);
  flip(middle.size - 1);
  const auto journal = journal::check_journal(files, explain_damage);
  EXPECT_TRUE(journal->healthy);  // All records are intact.
  const auto report = check_messages(files);
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->healthy);
  ASSERT_EQ(report->lines.size(), 2u);
  EXPECT_EQ(report->lines[0],
            "simulated/" + journal::segment_name(middle.segment) + " at byte " +
                std::to_string(middle.offset) + ": message 2 of line.fifo, " +
                std::to_string(middle.size) +
                " bytes, is damaged: its bytes do not match their checksum");
  EXPECT_EQ(report->lines[1], "3 messages, 1 damaged");
  const auto before = files.bytes(journal::segment_name(middle.segment));
  EXPECT_TRUE(journal::repair_journal(files, explain_damage)->healthy);
  EXPECT_EQ(files.bytes(journal::segment_name(middle.segment)), before);
  OnDisk again;
  ASSERT_TRUE(again.open(files).has_value());
  EXPECT_EQ(again.store.state().messages().size(), 3u);
}

TEST_F(DamageOnDisk, ThatNobodyExplainsIsCutOutByTheRepair) {
  flip(middle.size - 1);
  EXPECT_FALSE(journal::check_journal(files)->healthy);
  EXPECT_TRUE(journal::repair_journal(files)->healthy);
  OnDisk again;
  ASSERT_TRUE(again.open(files).has_value());
  EXPECT_EQ(again.store.state().messages().size(), 0u);
}

struct MissingSegment : testing::Test {
  sim::FaultyFiles files;
  std::uint32_t oldest = 0;  // Before the checkpoint, and contains messages.

  static void send(OnDisk& disk, std::uint64_t key) {
    const std::string body(1'000, 'b');
    std::string tail;
    encode_tail(tail, {.body = body});
    disk.commit({queue::MessageSent{.queue = static_cast<queue::QueueKey>(1),
                                    .key = static_cast<queue::MessageKey>(key),
                                    .message_id = Uuid{{7}},
                                    .visible_at = kDamageStamp.now,
                                    .group = {},
                                    .dedup = {},
                                    .tail = tail,
                                    .tail_crc = crc32c(tail),
                                    .body = {}}});
  }

  void SetUp() override {
    OnDisk disk;
    ASSERT_TRUE(disk.open(files).has_value());
    const queue::QueueIdentity identity{"0", "r", "orders"};
    const std::string arn = identity.arn();
    const auto name = static_cast<queue::NameIndex>(1);
    disk.commit({queue::ServerStarted{},
                 queue::NameLearned{name, arn},
                 queue::QueueCreated{static_cast<queue::QueueKey>(1), name, identity, {}, {}}});
    for (std::uint64_t key = 1; key <= 60; ++key) send(disk, key);
    for (int i = 0; i < 1'000 && files.bytes("manifest") == first_manifest(); ++i) {
      disk.store.maintain(kDamageStamp);
      ASSERT_TRUE(disk.journal->sync_once().has_value());
      ASSERT_TRUE(disk.store.publish_checkpoint().has_value());
      ASSERT_TRUE(disk.journal->housekeep().has_value());
    }
    oldest = disk.store.state().messages()[0].body.segment;
  }
  // The manifest of a journal without a checkpoint.
  static std::string first_manifest() { return journal::encode_manifest({}); }
};

TEST_F(MissingSegment, RefusesTheStartUntilAnEmptyOneIsPutInItsPlace) {
  files.erase(journal::segment_name(oldest));
  EXPECT_EQ(OnDisk().open(files).error().code, ErrorCode::storage_damaged);
  ASSERT_EQ(missing_segments(files).value(), std::set{oldest});
  ASSERT_TRUE(journal::replace_missing_segment(files, oldest).has_value());
  EXPECT_TRUE(journal::repair_journal(files, explain_damage)->healthy);
  EXPECT_TRUE(missing_segments(files)->empty());
  OnDisk again;
  ASSERT_TRUE(again.open(files).has_value());
  const queue::MessageTable& table = again.store.state().messages();
  EXPECT_EQ(table.size(), 60u);
  std::string bytes;
  for (queue::Slot slot = 0; slot < table.end(); ++slot) {
    const auto stored = again.store.read_message(table[slot].key, table[slot].body, bytes);
    EXPECT_EQ(stored.has_value(), table[slot].body.segment != oldest);
    if (!stored) EXPECT_EQ(stored.error().code, ErrorCode::storage_damaged);
  }
}

}  // namespace
}  // namespace redrive::store
