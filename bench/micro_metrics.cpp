// Cost of recording a metric: the target is at most 50 ns, without locks and allocations.

#include <benchmark/benchmark.h>

#include "observe/metrics/action_metrics.h"
#include "observe/metrics/series.h"

namespace redrive::metrics {
namespace {

void record_latency(benchmark::State& state) {
  static ActionMetrics actions("sqs", {"SendMessage"});
  std::uint64_t micros = 1;
  for (auto _ : state) {
    actions.latency(0).record(micros);
    micros = micros * 5 % 100'003;
  }
}
BENCHMARK(record_latency)->Threads(1)->Threads(2);

void count_once(benchmark::State& state) {
  static Counter counter;
  for (auto _ : state) counter.add();
}
BENCHMARK(count_once);

void read_two_weeks(benchmark::State& state) {
  Series series(20'160);
  for (int i = 0; i < 20'160; ++i) series.set(i, i * 7919 % 1000);
  for (auto _ : state) benchmark::DoNotOptimize(series.read(0, 20'160));
  state.counters["bytes"] = static_cast<double>(series.memory_bytes());
}
BENCHMARK(read_two_weeks);

}  // namespace
}  // namespace redrive::metrics
