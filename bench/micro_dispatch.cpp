// The server's cost per batch besides the handler: receive, read, encode, judge, delete.

#include <benchmark/benchmark.h>
#include <utility>

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/digest.h"
#include "core/engine/engine.h"
#include "core/journal/journal.h"
#include "functions/dispatch/dispatcher.h"
#include "functions/dispatch/letter.h"

namespace redrive::dispatch {
namespace {

// A handler that takes no time.
class InstantInvoker final : public runtime::Invoker {
 public:
  void invoke(std::shared_ptr<const runtime::FunctionSpec>, runtime::Invocation what,
              std::function<void(runtime::Outcome)> done) override {
    benchmark::DoNotOptimize(what.payload.text().data());
    ++invocations;
    done({.payload = "null"});
  }
  void retire(const std::string&) override {}
  void forget(const std::string&) override {}
  std::vector<runtime::LogLine> logs(const std::string&, std::uint64_t, std::size_t) override {
    return {};
  }
  runtime::FunctionStats stats(const std::string&) override { return {}; }
  std::string isolation() const override { return {}; }

  std::size_t invocations = 0;
};

struct DispatchBench {
  SystemClock clock;
  SeededIds ids{1};
  store::Store store;
  std::unique_ptr<journal::Journal> journal = journal::memory_journal({});
  std::unique_ptr<engine::Engine> engine;
  InstantInvoker invoker;
  std::unique_ptr<Dispatcher> dispatcher;
  const queue::QueueIdentity queue{"000000000000", "us-east-1", "orders"};

  DispatchBench() {
    static_cast<void>(store.attach(*journal));
    engine = std::make_unique<engine::Engine>(engine::Engine::Parts{store, *journal, clock, ids},
                                              engine::Engine::Hooks{});
    engine->turn([&](engine::Turn& turn) {
      std::vector<queue::Change> changes;
      const std::string arn = queue.arn();
      const auto name = turn.name(arn, changes);
      changes.push_back(queue::QueueCreated{next(turn.state().last_queue()), name, queue, {}, {}});
      changes.push_back(queue::EntryPut{queue::EntryKind::mapping, "m", "{}"});
      turn.commit(changes);
    });
    dispatcher = std::make_unique<Dispatcher>(
        Dispatcher::Parts{*engine, invoker, nullptr, [this] { return definitions(); }},
        Dispatcher::Hooks{},
        Dispatcher::Options{.concurrency_max = 2, .mode = Strand::Mode::manual});
    dispatcher->reload();
    dispatcher->strand().drain();
  }
  Definitions definitions() const {
    const functions::FunctionId id{"000000000000", "us-east-1", "f"};
    auto spec = std::make_shared<runtime::FunctionSpec>();
    spec->arn = id.arn();
    spec->name = "f";
    functions::Mapping mapping;
    mapping.id = "m";
    mapping.queue_arn = queue.arn();
    mapping.function_arn = id.arn();
    return {.functions = {{id.arn(), {id, spec, {}, {}}}}, .mappings = {mapping}};
  }
  void send(const std::string& body, int count) {
    const Letter letter({.body = body});
    const std::vector<queue::Draft> drafts(static_cast<std::size_t>(count), letter.draft());
    static_cast<void>(engine->send(queue, drafts));
  }
};

void dispatch_batch(benchmark::State& state) {
  DispatchBench bench;
  const std::string body(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    state.PauseTiming();
    bench.send(body, 10);
    state.ResumeTiming();
    bench.dispatcher->strand().drain();
    state.PauseTiming();
    static_cast<void>(bench.engine->maintain());
    state.ResumeTiming();
  }
  if (std::cmp_less(bench.invoker.invocations, state.iterations()))
    state.SkipWithError("batches were not run");
}
BENCHMARK(dispatch_batch)->Arg(100)->Arg(1'000)->Arg(10'000);

// The same with a constant backlog: no waiting at the queue, and the cost of each receive is
// included. The time is that of all batches; items are batches.
void dispatch_backlog(benchmark::State& state) {
  constexpr int kBatches = 64;
  DispatchBench bench;
  const std::string body(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < kBatches; ++i) bench.send(body, 10);
    state.ResumeTiming();
    bench.dispatcher->strand().drain();
    state.PauseTiming();
    static_cast<void>(bench.engine->maintain());
    state.ResumeTiming();
  }
  if (std::cmp_less(bench.invoker.invocations, kBatches * state.iterations()))
    state.SkipWithError("batches were not run");
  state.SetItemsProcessed(kBatches * state.iterations());
}
BENCHMARK(dispatch_backlog)->Arg(100)->Arg(1'000)->Arg(10'000);

}  // namespace
}  // namespace redrive::dispatch
