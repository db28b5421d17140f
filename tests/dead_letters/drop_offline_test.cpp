#include "dead_letters/damage/drop_offline.h"

#include <gtest/gtest.h>

#include "core/engine/engine.h"
#include "core/journal/format.h"
#include "core/store/change_codec.h"
#include "core/store/check_messages.h"
#include "dead_letters/dead_letters.h"
#include "sim/faulty_files.h"

// `redrive journal repair --drop`: damaged messages deleted while no server runs.

namespace redrive::engine {
namespace {

using queue::MessageKey;

queue::QueueIdentity queue_called(const std::string& name) {
  return {"000000000000", "us-east-1", name};
}

// A server on files, for as long as the object lives.
struct RunningServer {
  explicit RunningServer(journal::Files& files) {
    const auto replay = [this](journal::Sequence, journal::Location at, std::string_view payload) {
      return store.replay(at, payload);
    };
    auto opened = journal::open_journal(files, {}, replay, recovered, store::explain_damage);
    EXPECT_TRUE(opened.has_value());
    journal = *std::move(opened);
    EXPECT_TRUE(store.attach(*journal).has_value());
    engine.emplace(Engine::Parts{.store = store, .journal = *journal, .clock = clock, .ids = ids},
                   Engine::Hooks{});
    dead_letters.emplace(*engine);
  }
  ~RunningServer() { EXPECT_TRUE(journal->sync_once().has_value()); }

  void create(const std::string& name, queue::QueueSettings settings = {}) {
    engine->turn([&](Turn& turn) {
      std::vector<queue::Change> changes;
      const std::string arn = queue_called(name).arn();
      const queue::NameIndex index = turn.name(arn, changes);
      changes.push_back(queue::QueueCreated{
          next(turn.state().last_queue()), index, queue_called(name), settings, {}});
      turn.commit(changes);
    });
  }
  void send(const std::string& name, const std::string& body) {
    std::string tail;
    store::encode_tail(tail, {.body = body});
    const queue::Draft draft{.tail = tail, .tail_crc = crc32c(tail)};
    ASSERT_TRUE(engine->send(queue_called(name), std::span(&draft, 1)).has_value());
  }
  std::size_t size(const std::string& name) {
    const queue::Queue* queue = store.state().find(queue_called(name));
    return queue == nullptr ? 0 : store.state().mailbox(*queue).size();
  }

  store::Store store;
  journal::Recovered recovered;
  std::unique_ptr<journal::Journal> journal;
  ManualClock clock;
  SeededIds ids{1};
  std::optional<Engine> engine;
  std::optional<dead_letters::DeadLetters> dead_letters;
};

struct DropOffline : testing::Test {
  sim::FaultyFiles files;

  void SetUp() override {
    RunningServer server(files);
    queue::QueueSettings settings;
    settings.retention = std::chrono::seconds(60);
    server.create("orders", settings);
    for (int i = 0; i < 4; ++i) server.send("orders", "the body of a message");
    // A consumer holds the first.
    const auto start = server.engine->receive(
        queue_called("orders"), {.max = 1, .consumer = "c"}, Duration::zero(), {});
    ASSERT_EQ((*start.answer)->messages.size(), 1u);
  }
  void damage(std::uint64_t key) {
    queue::BodyRef body;
    {
      RunningServer server(files);  // Its segment is sealed by this start.
      const queue::State& state = server.store.state();
      body = state.messages()[state.messages().find(static_cast<MessageKey>(key))].body;
    }
    files.flip_bit(journal::segment_name(body.segment), body.offset + body.size - 1, 3);
  }
  std::size_t damaged() {
    const auto found = store::find_messages(files);
    EXPECT_TRUE(found.has_value());
    return found->damaged.size();
  }
};

TEST_F(DropOffline, DeletesTheMessagesThatAreNamed) {
  damage(1);
  damage(3);
  ASSERT_EQ(damaged(), 2u);
  const auto report = dead_letters::drop_offline(files, std::set{MessageKey{3}});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  ASSERT_EQ(report->lines.size(), 1u);
  EXPECT_EQ(report->lines[0], "message 3 of orders dropped: its bytes do not match their checksum");
  EXPECT_EQ(damaged(), 1u);
  RunningServer server(files);
  EXPECT_EQ(server.size("orders"), 3u);
  EXPECT_EQ(server.size("orders!damaged"), 0u);
}

// Whoever held one of them is gone with the server.
TEST_F(DropOffline, DeletesAllThatAreDamagedHeldOrNot) {
  damage(1);
  damage(3);
  const auto report = dead_letters::drop_offline(files, std::nullopt);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->lines.size(), 2u);
  EXPECT_EQ(damaged(), 0u);
  RunningServer server(files);
  EXPECT_EQ(server.size("orders"), 2u);
}

TEST_F(DropOffline, DeletesWhatAServerHasSetAside) {
  damage(2);
  {
    RunningServer server(files);
    const queue::State& state = server.store.state();
    const queue::BodyRef body = state.messages()[state.messages().find(MessageKey{2})].body;
    std::string bytes;
    ASSERT_FALSE(server.engine->read_message(MessageKey{2}, body, bytes).has_value());
    ASSERT_EQ(server.size("orders!damaged"), 1u);
  }
  const auto report = dead_letters::drop_offline(files, std::set{MessageKey{2}});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->lines.size(), 1u);
  RunningServer server(files);
  EXPECT_EQ(server.size("orders!damaged"), 0u);
}

TEST_F(DropOffline, RefusesWhatIsWholeOrUnknownAndChangesNothing) {
  damage(3);
  for (const auto& [key, text] : {std::pair{MessageKey{2}, "message 2 is not damaged"},
                                  std::pair{MessageKey{99}, "message 99 does not exist"}}) {
    const auto report = dead_letters::drop_offline(files, std::set{MessageKey{3}, key});
    ASSERT_FALSE(report.has_value());
    EXPECT_TRUE(report.error().message.starts_with(text)) << report.error().message;
  }
  EXPECT_EQ(damaged(), 1u);
}

// The record of the drop has the time of the record before it: nothing expires meanwhile.
TEST_F(DropOffline, LetsNoTimePass) {
  damage(3);
  Timestamp before;
  {
    RunningServer server(files);
    before = server.store.last_stamp().now;
  }
  ASSERT_TRUE(dead_letters::drop_offline(files, std::nullopt).has_value());
  RunningServer server(files);
  EXPECT_EQ(server.store.last_stamp().now, before);
  EXPECT_EQ(server.size("orders"), 3u);
}

}  // namespace
}  // namespace redrive::engine
