#include "sim/invariants.h"

#include <gtest/gtest.h>

#include "tests/sim/facts.h"

namespace redrive::sim {
namespace {

struct NoLedger final : queue::BodyLedger {
  void hold(const queue::BodyRef&) override {}
  void let_go(const queue::BodyRef&) override {}
};

// A server's state and a model with the same history so far.
struct Pair {
  Pair() : state(ledger) {
    tell_both(two_queues(Kind::fifo));
    tell_both(record_of({sent(1, "g", "d1"), sent(2, "g", "d2"), sent(3, "h", "d3")}));
    tell_both(record_of({received({1}, Duration(60'000))}));
  }
  void tell_state(const Record& record) {
    for (const queue::Change& fact : record.facts) state.apply(fact, record.stamp);
  }
  void tell_both(const Record& record) {
    tell_state(record);
    model.apply(record);
  }
  View view() const { return {state, model, kNoon}; }

  NoLedger ledger;
  queue::State state;
  Model model;
};

queue::QueueSettings slow() {
  queue::QueueSettings settings;
  settings.fifo.emplace();
  settings.delay = std::chrono::seconds(10);
  return settings;
}

struct Difference {
  std::string_view name;
  queue::Change fact;
  std::string_view invariant;
};

TEST(Invariants, HoldWhenBothHeardTheSame) {
  const Pair pair;
  EXPECT_EQ(broken_by([&] {
              memory_equals_the_model(pair.view());
              counters_equal_a_recount(pair.view());
              walks_find_what_is_available(pair.view());
              mailbox_structures_agree(pair.state);
            }),
            "");
}

TEST(Invariants, NoticeWhatOnlyTheServerHeard) {
  const Difference cases[] = {
      {"a delete", queue::MessageDeleted{kQueue, message(3)}, "no message is lost"},
      {"a purge", queue::QueuePurged{kQueue}, "queues are as they should be"},
      {"a receive", received({3}), "messages are as they should be"},
      {"an extension",
       queue::VisibilityChanged{kQueue, message(1), kNoon + Duration(90'000)},
       "messages are as they should be"},
      {"settings", queue::QueueSettingsChanged{kQueue, slow()}, "queues are as they should be"},
      {"tags", queue::QueueTagsChanged{kQueue, {{"k", "v"}}}, "queues are as they should be"},
      {"a deleted queue", queue::QueueDeleted{kOther}, "queues are as they should be"},
      {"a dead letter",
       queue::MessageDeadLettered{message(3), kQueue, kOther, 3},
       "messages are as they should be"},
      {"a number", sent(4, "g", "d4"), "names and numbers are kept"},
      {"a name",
       queue::NameLearned{static_cast<queue::NameIndex>(3), "somebody"},
       "names and numbers are kept"},
      {"a task",
       queue::MoveTaskStarted{.task = kTask, .source = kQueue},
       "names and numbers are kept"},
  };
  for (const Difference& difference : cases) {
    SCOPED_TRACE(difference.name);
    Pair pair;
    pair.tell_state(record_of({difference.fact}));
    EXPECT_EQ(broken_by([&] { memory_equals_the_model(pair.view()); }), difference.invariant);
  }
}

TEST(Invariants, NoticeWhatTheServerForgot) {
  Pair pair;
  pair.model.apply(record_of({queue::MessageDeleted{kQueue, message(3)}}));
  EXPECT_EQ(broken_by([&] { nothing_gone_is_reborn(pair.view()); }), "nothing gone is reborn");
  EXPECT_EQ(broken_by([&] { counters_equal_a_recount(pair.view()); }), "counters equal a recount");
  EXPECT_EQ(broken_by([&] { walks_find_what_is_available(pair.view()); }),
            "walks find what is available");
}

TEST(Invariants, NoticeForgottenDeduplicationIds) {
  Pair pair;
  pair.state.find(kQueue)->dedup.take();
  EXPECT_EQ(broken_by([&] { deduplication_windows_are_exact(pair.view()); }),
            "deduplication windows are exact");
}

TEST(Invariants, NoticeForgottenReceiveAttempts) {
  Pair pair;
  queue::MessagesReceived again = received({3});
  again.attempt_id = "attempt";
  pair.tell_both(record_of({again}));
  EXPECT_EQ(broken_by([&] { receive_attempts_are_remembered(pair.view()); }), "");
  pair.state.find(kQueue)->receive_attempts.clear();
  EXPECT_EQ(broken_by([&] { receive_attempts_are_remembered(pair.view()); }),
            "receive attempts are remembered");
}

}  // namespace
}  // namespace redrive::sim
