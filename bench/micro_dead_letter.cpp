// Why dead letters failed: counting messages, and comparing the dead with the processed.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <random>

#include "dead_letters/triage/features.h"
#include "dead_letters/triage/rank.h"

namespace {

using namespace redrive;
using namespace redrive::triage;

// An order with about thirty values, many of them with high cardinality.
std::string order(std::mt19937& random, bool bad) {
  std::string body = fmt::format(R"({{"id":{},"tenant":"t-{}","amount":{},"lines":[)",
                                 random(),
                                 bad ? 4711 : random() % 100'000,
                                 random() % 10'000);
  for (int i = 0; i < 5; ++i) {
    body += fmt::format(
        R"({}{{"sku":"s-{}","qty":{}}})", i == 0 ? "" : ",", random() % 100'000, random() % 9);
  }
  body += R"(],"address":{)";
  for (int i = 0; i < 12; ++i) body += fmt::format(R"("f{}":"v{}",)", i, random() % 1000);
  return body + R"("country":"de"}})";
}

void add(FeatureCounts& counts, std::mt19937& random, bool bad) {
  const std::string body = order(random, bad);
  counts.add({.body = body,
              .attributes = {},
              .context = {.consumer = "shop",
                          .host = "10.0.0.7",
                          .code_version = "9f3c2a1b",
                          .sent = Timestamp(1'790'000'000'000 + random() % 86'400'000),
                          .first_attempt = {}}});
}

void count_message(benchmark::State& state) {
  std::mt19937 random(1);
  FeatureCounts counts;
  for (auto _ : state) add(counts, random, false);
}
BENCHMARK(count_message);

// The cost of a query besides reading up to 256 messages: counting them, and the comparison.
void compare(benchmark::State& state) {
  std::mt19937 random(1);
  FeatureCounts processed;
  for (int i = 0; i < 20'000; ++i) add(processed, random, false);
  for (auto _ : state) {
    auto dead = FeatureCounts::with_names();
    for (int i = 0; i < 256; ++i) add(dead, random, i % 2 == 0);
    FeatureCounts sum;
    sum.merge(processed);
    benchmark::DoNotOptimize(rank(dead, sum, 5));
  }
  state.counters["processed bytes"] = static_cast<double>(processed.memory_bytes());
  state.counters["encoded bytes"] = static_cast<double>(processed.encode().size());
}
BENCHMARK(compare)->Unit(benchmark::kMillisecond);

}  // namespace
