// The rules alone: one message is sent, received and deleted in a queue that holds many others.

#include <benchmark/benchmark.h>

#include <cassert>
#include <string>
#include <vector>

#include "core/queue/handle_rules.h"
#include "core/queue/receive.h"
#include "core/queue/send.h"
#include "core/queue/state.h"

namespace {

using namespace redrive::queue;
using redrive::SeededIds;
using redrive::Timestamp;

class NoLedger final : public BodyLedger {
 public:
  void hold(const BodyRef&) override {}
  void let_go(const BodyRef&) override {}
};

// A state with one queue, and its current time.
class QueueBench {
 public:
  QueueBench() : state_(ledger_) {
    const QueueIdentity identity{"000000000000", "us-east-1", "bench"};
    state_.apply(ServerStarted{ids_.secret()}, stamp_);
    state_.apply(NameLearned{NameIndex{1}, identity.arn()}, stamp_);
    state_.apply(QueueCreated{.queue = QueueKey{1},
                              .arn = NameIndex{1},
                              .identity = identity,
                              .settings = {},
                              .tags = {}},
                 stamp_);
    queue_ = state_.find(identity);
    assert(queue_ != nullptr);
  }

  void send() {
    const Draft draft{.tail = tail_};
    SendOutcome outcome;
    changes_.clear();
    decide_send(state_, *queue_, {&draft, 1}, stamp_, ids_, changes_, {&outcome, 1});
    for (const Change& change : changes_) state_.apply(change, stamp_);
  }

  MessageKey receive() {
    const ReceiveDecision decision = decide_receive(
        state_, *queue_, {.max = 1, .visibility = queue_->settings.visibility_timeout}, stamp_);
    assert(decision.received.count == 1);
    state_.apply(decision.received, stamp_);
    return decision.received.keys[0];
  }

  void remove(MessageKey key) {
    const ReceiptHandle handle{
        queue_->key, key, state_.generation(state_.find_message(*queue_, key))};
    const auto decision = decide_delete(state_, *queue_, handle.seal(state_.secret()), stamp_);
    assert(decision && *decision);
    state_.apply((*decision)->fact, stamp_);
  }

 private:
  NoLedger ledger_;
  SeededIds ids_{7};
  State state_;
  Stamp stamp_{.now = Timestamp(1'700'000'000'000), .wall = Timestamp(1'700'000'000'000)};
  Queue* queue_ = nullptr;
  std::string tail_ = std::string(1100, 'x');
  std::vector<Change> changes_;
};

void message_life(benchmark::State& state) {
  QueueBench pool;
  for (std::int64_t i = 0; i < state.range(0); ++i) pool.send();
  for (auto _ : state) {
    pool.send();
    pool.remove(pool.receive());
  }
}
BENCHMARK(message_life)->Arg(0)->Arg(100'000)->ArgName("waiting");

}  // namespace
