#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "core/queue/hidden_queues.h"
#include "dead_letters/dead_letters.h"
#include "tests/core/store/recording_journal.h"

// What the tests of this room share.
namespace redrive::engine {

using namespace dead_letters;  // NOLINT(google-build-using-namespace): the tests are about both.
using queue::QueueIdentity;
using queue::QueueSettings;
using std::chrono::seconds;

inline QueueIdentity identity_of(std::string name) {
  return {"000000000000", "us-east-1", std::move(name)};
}

inline QueueSettings fifo_settings() {
  QueueSettings settings;
  settings.fifo.emplace();
  return settings;
}

// An engine with a clock that moves when told to, over a journal that is kept for the next one.
template <class MovableClock>
class WorldOf {
 public:
  explicit WorldOf(store::StoreOptions options = {}) : options_(options) { start(); }

  MovableClock clock{Timestamp(1'700'000'000'000)};
  SeededIds ids{1};
  store::RecordingJournal journal;
  std::atomic<int> wakes = 0;  // How often the engine asked for an earlier tick,
  std::atomic<int> syncs = 0;  // and for a sync that nobody else asks for.
  std::vector<std::string> log;
  // Set, work that the engine wants done elsewhere is kept here instead of being done at once.
  bool keep_offloaded = false;
  std::vector<std::function<void()>> offloaded;
  std::function<Result<std::string>(const ArchiveItem&)> archive;  // Empty: there is none.
  std::vector<PolicyRule> policies;                                // From the next start on.
  SettledLimits settled;                                           // The same.
  std::vector<Notice> notices;
  // From the next restart on. Most tests let days pass without the maintenance that records it.
  JumpOptions jump{.policy = JumpPolicy::accept};

  Engine& engine() { return *engine_; }
  DeadLetters& dead_letters() { return *dead_letters_; }
  queue::State& state() { return store_->state(); }
  store::Store& store() { return *store_; }

  // The process ends and another one replays the journal.
  void restart() {
    dead_letters_.reset();
    engine_.reset();
    store_.reset();
    start();
  }

  void create(const std::string& name, QueueSettings settings = {}) {
    engine_->turn([&](Turn& turn) {
      std::vector<queue::Change> changes;
      const std::string arn = identity_of(name).arn();
      const queue::NameIndex index = turn.name(arn, changes);
      changes.push_back(queue::QueueCreated{
          next(turn.state().last_queue()), index, identity_of(name), std::move(settings), {}});
      turn.commit(changes);
    });
  }
  void change(const std::string& name, QueueSettings settings) {
    engine_->turn([&](Turn& turn) {
      const queue::QueueKey key = turn.state().find(identity_of(name))->key;
      turn.commit(queue::QueueSettingsChanged{key, std::move(settings)});
    });
  }
  void remove_queue(const std::string& name) {
    engine_->turn([&](Turn& turn) {
      turn.commit(queue::QueueDeleted{turn.state().find(identity_of(name))->key});
    });
  }

  Result<SendResult> try_send(const std::string& name, const std::string& body,
                              std::optional<seconds> delay = {}) {
    const bool fifo = name.ends_with(".fifo");
    const std::string dedup = fifo ? "d" + std::to_string(++sent_) : "";
    std::string tail;
    store::encode_tail(
        tail, {.group = fifo ? "g" : "", .dedup = dedup, .md5_of_body = md5(body), .body = body});
    const queue::Draft draft{.group = fifo ? "g" : "",
                             .dedup = dedup,
                             .tail = tail,
                             .tail_crc = crc32c(tail),
                             .delay = delay};
    return engine_->send(identity_of(name), std::span(&draft, 1));
  }
  void send(const std::string& name, const std::string& body, std::optional<seconds> delay = {}) {
    ASSERT_TRUE(try_send(name, body, delay).has_value());
  }

  std::string body_of(const Received& received) {
    std::string bytes(received.body.size, '\0');
    EXPECT_TRUE(engine_->read_body(received.body, bytes.data()).has_value());
    const auto stored = store::decode_message(bytes);
    return stored ? std::string(stored->contents.body) : "(damaged)";
  }
  using Bodies = std::vector<std::string>;
  Bodies bodies_of(const ReceiveOutcome& outcome) {
    Bodies bodies;
    for (const Received& received : outcome.messages) bodies.push_back(body_of(received));
    return bodies;
  }
  // A receive that does not wait.
  Bodies receive(const std::string& name, std::size_t max = 10,
                 std::optional<Duration> visibility = {}) {
    auto start = engine_->receive(identity_of(name),
                                  {.max = max, .visibility = visibility, .consumer = consumer},
                                  Duration::zero(),
                                  {});
    EXPECT_TRUE(start.answer && start.answer->has_value());
    last_handles.clear();
    for (const Received& received : (*start.answer)->messages) {
      last_handles.push_back(received.handle.seal(state().secret()));
    }
    return bodies_of(**start.answer);
  }
  std::vector<std::string> last_handles;
  std::string consumer;  // Of receive().

  // A receive that waits, and how it ended.
  struct Waiting {
    WaitId id = 0;
    std::optional<Result<Bodies>> ended;
    int calls = 0;

    bool ended_with(const Bodies& bodies) const { return ended && *ended && **ended == bodies; }
  };
  std::shared_ptr<Waiting> wait(const std::string& name, Duration patience, std::size_t max = 10,
                                std::optional<Duration> visibility = {}) {
    auto waiting = std::make_shared<Waiting>();
    auto start = engine_->receive(identity_of(name),
                                  {.max = max, .visibility = visibility},
                                  patience,
                                  [this, waiting](Result<ReceiveOutcome> result) {
                                    ++waiting->calls;
                                    if (result) {
                                      waiting->ended = bodies_of(*result);
                                    } else {
                                      waiting->ended = std::unexpected(result.error());
                                    }
                                  });
    EXPECT_FALSE(start.answer.has_value());
    waiting->id = start.wait;
    return waiting;
  }

  // Lets the time pass, ticking whenever the engine wants it, as the server does.
  void pass(Duration time) {
    const Timestamp end = engine_->now() + time;
    while (engine_->armed() <= end) {
      clock.advance(std::max(Duration::zero(), engine_->armed() - engine_->now()));
      engine_->tick();
    }
    clock.advance(end - engine_->now());
  }

 private:
  void start() {
    store_ = std::make_unique<store::Store>(options_);
    for (const auto& record : journal.records()) {
      EXPECT_TRUE(store_->replay(record.at, record.payload).has_value());
    }
    EXPECT_TRUE(store_->attach(journal).has_value());
    engine_ = std::make_unique<Engine>(
        Engine::Parts{
            .store = *store_, .journal = journal, .clock = clock, .ids = ids, .jump = jump},
        Engine::Hooks{.wake_earlier = [this] { ++wakes; },
                      .sync_wanted = [this] { ++syncs; },
                      .log = [this](std::string line) { log.push_back(std::move(line)); },
                      .notice = [this](const Notice& notice) { notices.push_back(notice); }});
    const auto offload = [this](std::function<void()> work) {
      keep_offloaded ? offloaded.push_back(std::move(work)) : work();
    };
    const auto keep = [this](const ArchiveItem& item) -> Result<std::string> {
      if (archive) return archive(item);
      return fail(ErrorCode::internal_failure, "there is no archive");
    };
    dead_letters_ = std::make_unique<DeadLetters>(*engine_,
                                                  Options{.policies = policies,
                                                          .settled = settled,
                                                          .jobs = {.offload = offload},
                                                          .archive = keep});
  }

  store::StoreOptions options_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<DeadLetters> dead_letters_;
  int sent_ = 0;
};
using EngineWorld = WorldOf<ManualClock>;

}  // namespace redrive::engine
