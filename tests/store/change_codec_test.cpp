#include "store/change_codec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/message_codec.h"
#include "tests/store/describe_state.h"

namespace redrive::store {
namespace {

using namespace redrive::queue;  // NOLINT: the vocabulary of this file.

constexpr Stamp kStamp{.now = Timestamp(123'456), .wall = Timestamp(1'700'000'000'789)};
constexpr journal::Location kPlace{.segment = 9, .offset = 4096};

template <class Key>
Key key(std::uint64_t number) {
  return static_cast<Key>(number);
}

QueueSettings all_settings() {
  QueueSettings settings;
  settings.visibility_timeout = seconds(1);
  settings.retention = seconds(2);
  settings.delay = seconds(3);
  settings.receive_wait = seconds(4);
  settings.message_bytes_max = 5;
  settings.policy = "policy";
  settings.redrive = RedrivePolicy{"target", 6};
  settings.redrive_allow =
      RedriveAllowPolicy{RedriveAllowPolicy::Permission::by_queue, {"one", "two"}};
  settings.sqs_managed_sse = false;
  settings.kms_key_id = "key";
  settings.kms_reuse_period = seconds(7);
  settings.fifo = FifoSettings{.content_based_dedup = true,
                               .dedup_scope = DedupScope::message_group,
                               .dedup_scope_at_birth = DedupScope::queue,
                               .throughput_limit = ThroughputLimit::per_message_group};
  return settings;
}

History all_history() {
  History history;
  history.first_received_wall = Timestamp(1);
  history.received_at = Timestamp(2);
  history.entered_generation = 3;
  history.prior_receives = 4;
  history.redrives = 5;
  history.dead_letter_source = key<NameIndex>(6);
  history.origin = key<NameIndex>(7);
  history.sequence = 8;
  history.message_id = Uuid{{9}};
  history.sent_wall = Timestamp(10);
  history.dedup_is_message_id = true;
  history.add({.received_wall = Timestamp(11),
               .duration_ms = 12,
               .by = key<NameIndex>(13),
               .end = AttemptEnd::released});
  history.add({.received_wall = Timestamp(14)});
  return history;
}

std::string describe(const QueueCreated& f) {
  std::string tags;
  for (const auto& [name, value] : f.tags) tags += fmt::format("{}={},", name, value);
  return fmt::format("{} {} {} {} {}",
                     number(f.queue),
                     number(f.arn),
                     f.identity.arn(),
                     describe_settings(f.settings),
                     tags);
}
std::string describe(const MoveTaskStarted& f) {
  return fmt::format("{} {} {} {} {} {} {}",
                     number(f.task),
                     f.id.text(),
                     number(f.source),
                     f.source_arn,
                     f.destination_arn,
                     f.rate,
                     f.to_move);
}
std::string describe_keys(std::uint8_t count, const std::array<MessageKey, kReceiveMax>& keys) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += fmt::format(" {}", number(keys[i]));
  return out;
}
std::string describe_secret(const std::array<std::uint8_t, 16>& secret) {
  return fmt::format("{} {}", secret[0], secret[15]);
}

// Every field of every fact that travels, as text.
struct Describe {
  std::string operator()(const ServerStarted& f) const { return describe_secret(f.secret); }
  std::string operator()(const NameLearned& f) const {
    return fmt::format("{} {}", number(f.index), f.text);
  }
  std::string operator()(const QueueCreated& f) const { return describe(f); }
  std::string operator()(const QueueSettingsChanged& f) const {
    return fmt::format("{} {}", number(f.queue), describe_settings(f.settings));
  }
  std::string operator()(const QueueTagsChanged& f) const {
    return fmt::format("{} {} {}", number(f.queue), f.tags.size(), f.tags.at("k"));
  }
  std::string operator()(const QueueDeleted& f) const { return fmt::format("{}", number(f.queue)); }
  std::string operator()(const QueuePurged& f) const { return fmt::format("{}", number(f.queue)); }
  std::string operator()(const MessageSent& f) const {
    return fmt::format("{} {} {} {} {} {}",
                       number(f.queue),
                       number(f.key),
                       f.message_id.text(),
                       f.visible_at.ms(),
                       f.group,
                       f.dedup);
  }
  std::string operator()(const MessagesReceived& f) const {
    return fmt::format("{} {} {} {}{}",
                       number(f.queue),
                       number(f.by),
                       f.visible_at.ms(),
                       f.attempt_id,
                       describe_keys(f.count, f.keys));
  }
  std::string operator()(const MessageDeleted& f) const {
    return fmt::format("{} {}", number(f.queue), number(f.key));
  }
  std::string operator()(const VisibilityChanged& f) const {
    return fmt::format("{} {} {}", number(f.queue), number(f.key), f.visible_at.ms());
  }
  std::string operator()(const ReceiveRepeated& f) const {
    return fmt::format(
        "{} {}{}", number(f.queue), f.visible_at.ms(), describe_keys(f.count, f.keys));
  }
  std::string operator()(const MessageDeadLettered& f) const {
    return fmt::format("{} {} {} {}", number(f.key), number(f.from), number(f.to), f.sequence);
  }
  std::string operator()(const MessageRedriven& f) const {
    return fmt::format("{} {} {} {} {} {}",
                       number(f.task),
                       number(f.key),
                       number(f.from),
                       number(f.to),
                       f.message_id.text(),
                       f.sequence);
  }
  std::string operator()(const MoveTaskStarted& f) const { return describe(f); }
  std::string operator()(const MoveTaskEnded& f) const {
    return fmt::format("{} {} {}", number(f.task), static_cast<int>(f.status), f.failure);
  }
  std::string operator()(const MessageRelocated& f) const {
    return fmt::format("{}", number(f.key));
  }
  std::string operator()(const ServerReset&) const { return "server reset"; }
  std::string operator()(const TimePassed&) const { return "time passed"; }
  std::string operator()(const CheckpointBegun& f) const {
    return fmt::format("{} {} {} {} {}",
                       number(f.last_key),
                       number(f.last_queue),
                       number(f.last_task),
                       f.name_count,
                       describe_secret(f.secret));
  }
  std::string operator()(const QueueSnapshot& f) const {
    return fmt::format("{} {} {} {}",
                       describe(f.created),
                       f.created_wall.ms(),
                       f.modified_wall.ms(),
                       f.purged_at.ms());
  }
  std::string operator()(const MessageSnapshot& f) const {
    return fmt::format("{} {} {}/{}/{} {} {} {} {} {} {} {}",
                       number(f.key),
                       number(f.queue),
                       f.body.segment,
                       f.body.offset,
                       f.body.size,
                       f.visible_at.ms(),
                       f.sent_at.ms(),
                       f.receive_count,
                       f.phase,
                       f.visibility_touched,
                       f.group,
                       describe_history(f.restored ? f.restored.get() : f.history));
  }
  std::string operator()(const DedupSnapshot& f) const {
    return fmt::format("{} {} {} {} {} {}",
                       number(f.queue),
                       f.id[0],
                       f.id[1],
                       f.expires.ms(),
                       f.message_id.text(),
                       f.sequence);
  }
  std::string operator()(const AttemptSnapshot& f) const {
    std::string out = fmt::format("{} {} {}", number(f.queue), f.attempt_id, f.expires.ms());
    for (const auto& [message, generation] : f.messages) {
      out += fmt::format(" {}.{}", number(message), generation);
    }
    return out;
  }
  std::string operator()(const TaskSnapshot& f) const {
    return fmt::format("{} {} {} {} {}",
                       describe(f.started),
                       static_cast<int>(f.status),
                       f.moved,
                       f.started_wall.ms(),
                       f.failure);
  }
  std::string operator()(const DeletedNameSnapshot& f) const {
    return fmt::format("{} {}", f.identity.arn(), f.deleted_at.ms());
  }
  std::string operator()(const CheckpointEnded&) const { return "ended"; }
};

// One of each fact, no field at its default, with what the facts point at.
struct Samples {
  std::string tail;
  std::string stored;
  History history = all_history();
  std::vector<Change> changes;

  Samples() {
    encode_tail(tail, {.group = "group", .dedup = "dedup", .body = "body"});
    encode_message_head(stored, {.tail_crc = crc32c(tail), .tail = tail});
    stored += tail;
    const std::array<std::uint8_t, 16> secret = {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const QueueCreated created{key<QueueKey>(1),
                               key<NameIndex>(2),
                               {"account", "region", "name"},
                               all_settings(),
                               {{"a", "b"}, {"c", ""}}};
    const MoveTaskStarted started{
        key<TaskKey>(1), Uuid{{2}}, key<QueueKey>(3), "source", "destination", 4, 5};
    changes = {
        ServerStarted{secret},
        NameLearned{key<NameIndex>(1), "text"},
        created,
        QueueSettingsChanged{key<QueueKey>(1), all_settings()},
        QueueTagsChanged{key<QueueKey>(1), {{"k", "v"}}},
        QueueDeleted{key<QueueKey>(1)},
        QueuePurged{key<QueueKey>(2)},
        MessageSent{key<QueueKey>(1),
                    key<MessageKey>(2),
                    Uuid{{3}},
                    Timestamp(4),
                    "group",
                    "dedup",
                    tail,
                    crc32c(tail),
                    {}},
        MessagesReceived{key<QueueKey>(1),
                         key<NameIndex>(2),
                         Timestamp(3),
                         2,
                         {key<MessageKey>(4), key<MessageKey>(5)},
                         "attempt"},
        MessageDeleted{key<QueueKey>(1), key<MessageKey>(2)},
        VisibilityChanged{key<QueueKey>(1), key<MessageKey>(2), Timestamp(3)},
        ReceiveRepeated{key<QueueKey>(1), Timestamp(2), 1, {key<MessageKey>(3)}},
        MessageDeadLettered{key<MessageKey>(1), key<QueueKey>(2), key<QueueKey>(3), 4},
        MessageRedriven{
            key<TaskKey>(1), key<MessageKey>(2), key<QueueKey>(3), key<QueueKey>(4), Uuid{{5}}, 6},
        started,
        MoveTaskEnded{key<TaskKey>(1), TaskStatus::failed, "why"},
        MessageRelocated{key<MessageKey>(1), stored, {}},
        ServerReset{},
        TimePassed{},
        CheckpointBegun{key<MessageKey>(1), key<QueueKey>(2), key<TaskKey>(3), 4, secret},
        QueueSnapshot{created, Timestamp(1), Timestamp(2), Timestamp(3)},
        MessageSnapshot{key<MessageKey>(1),
                        key<QueueKey>(2),
                        {3, 4, 5},
                        Timestamp(6),
                        Timestamp(7),
                        8,
                        1,
                        true,
                        "group",
                        &history,
                        nullptr},
        MessageSnapshot{key<MessageKey>(1),
                        key<QueueKey>(2),
                        {3, 4, 5},
                        Timestamp(6),
                        Timestamp(7),
                        0,
                        2,
                        false,
                        "",
                        nullptr,
                        nullptr},
        DedupSnapshot{key<QueueKey>(1), {2, 3}, Timestamp(4), Uuid{{5}}, 6},
        AttemptSnapshot{key<QueueKey>(1),
                        "attempt",
                        Timestamp(2),
                        {{key<MessageKey>(3), 4}, {key<MessageKey>(5), 6}}},
        TaskSnapshot{started, TaskStatus::cancelled, 1, Timestamp(2), "failure"},
        DeletedNameSnapshot{{"111111111111", "eu-west-1", "gone"}, Timestamp(7)},
        CheckpointEnded{},
    };
  }
};

std::string encoded(std::span<const Change> changes,
                    std::vector<RecordEncoder::Stored>* stored = nullptr) {
  RecordEncoder encoder;
  std::string payload;
  for (const std::string_view part : encoder.encode(kStamp, changes)) payload += part;
  if (stored != nullptr) stored->assign(encoder.stored().begin(), encoder.stored().end());
  return payload;
}

TEST(ChangeCodec, TheSamplesAreOneOfEachFact) {
  std::set<std::size_t> kinds;
  for (const Change& change : Samples().changes) kinds.insert(change.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<Change>);
}

TEST(ChangeCodec, EveryFactAloneIsReadBack) {
  const Samples samples;
  for (const Change& change : samples.changes) {
    const std::string payload = encoded({&change, 1});
    int seen = 0;
    const auto decoded =
        decode_record(kPlace, payload, [&](const Change& back, const Stamp& stamp) {
          ++seen;
          EXPECT_EQ(back.index(), change.index());
          EXPECT_EQ(std::visit(Describe(), back), std::visit(Describe(), change));
          EXPECT_EQ(stamp.now, kStamp.now);
          EXPECT_EQ(stamp.wall, kStamp.wall);
        });
    EXPECT_TRUE(decoded.has_value()) << change.index();
    EXPECT_EQ(seen, 1) << change.index();
  }
}

TEST(ChangeCodec, AllFactsInOneRecordAreReadBackInOrder) {
  const Samples samples;
  std::vector<std::string> seen;
  const std::string payload = encoded(samples.changes);
  const auto decoded = decode_record(kPlace, payload, [&](const Change& back, const Stamp&) {
    seen.push_back(std::visit(Describe(), back));
  });
  ASSERT_TRUE(decoded.has_value());
  ASSERT_EQ(seen.size(), samples.changes.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], std::visit(Describe(), samples.changes[i]));
  }
}

// Writer and reader agree on where a message's bytes are.
TEST(ChangeCodec, StoredBytesLieWhereTheEncoderSays) {
  const Samples samples;
  std::vector<RecordEncoder::Stored> stored;
  const std::string payload = encoded(samples.changes, &stored);
  ASSERT_EQ(stored.size(), 2u);  // The message sent and the one relocated.
  for (const auto& place : stored) {
    EXPECT_TRUE(decode_message(payload.substr(place.offset, place.size)).has_value());
  }
  std::vector<BodyRef> bodies;
  const auto decoded = decode_record(kPlace, payload, [&](const Change& back, const Stamp&) {
    if (const auto* sent = std::get_if<MessageSent>(&back)) bodies.push_back(sent->body);
    if (const auto* moved = std::get_if<MessageRelocated>(&back)) bodies.push_back(moved->body);
  });
  ASSERT_TRUE(decoded.has_value());
  ASSERT_EQ(bodies.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(bodies[i],
              (BodyRef{kPlace.segment, kPlace.offset + stored[i].offset, stored[i].size}));
  }
}

// A record cut within a fact is refused; cut between two facts it would be whole.
TEST(ChangeCodec, RefusesEveryPrefixOfAFact) {
  const Samples samples;
  for (const Change& change : samples.changes) {
    const std::string payload = encoded({&change, 1});
    for (std::size_t size = 0; size < payload.size(); ++size) {
      if (size == 16) continue;  // A stamp without facts.
      const auto decoded =
          decode_record(kPlace, std::string_view(payload).substr(0, size), [](auto&, auto&) {});
      ASSERT_FALSE(decoded.has_value()) << change.index() << " cut to " << size;
      EXPECT_EQ(decoded.error().code, ErrorCode::storage_damaged);
    }
  }
}

// The journal's checksum catches these; the codec must only survive them.
TEST(ChangeCodec, SurvivesEveryFlippedBit) {
  const Samples samples;
  for (const Change& change : samples.changes) {
    const std::string payload = encoded({&change, 1});
    for (std::size_t bit = 0; bit < payload.size() * 8; ++bit) {
      std::string bad = payload;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
      const auto decoded = decode_record(kPlace, bad, [](const Change&, const Stamp&) {});
      EXPECT_TRUE(decoded || decoded.error().code == ErrorCode::storage_damaged);
    }
  }
}

TEST(ChangeCodec, RefusesAFactItDoesNotKnow) {
  for (const int tag : {0, 20, 31, 39, 255}) {
    std::string payload(16, '\0');
    payload += static_cast<char>(tag);
    EXPECT_FALSE(decode_record(kPlace, payload, [](auto&, auto&) { FAIL(); }).has_value()) << tag;
  }
}

TEST(ChangeCodec, NamesThePlaceOfWhatItCannotRead) {
  const auto decoded = decode_record(kPlace, "short", [](auto&, auto&) {});
  ASSERT_FALSE(decoded.has_value());
  EXPECT_NE(decoded.error().message.find("segment 9, offset 4096"), std::string::npos);
}

}  // namespace
}  // namespace redrive::store
