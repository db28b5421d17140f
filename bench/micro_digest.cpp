// Cost of the digests of one message.

#include <benchmark/benchmark.h>

#include <array>
#include <string>

#include "base/digest.h"

namespace {

constexpr std::size_t kBodyBytes = 1024;

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void md5_1kib(benchmark::State& state) {
  const std::string body(kBodyBytes, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(redrive::md5(body));
  count_bytes(state, kBodyBytes);
}
BENCHMARK(md5_1kib);

void md5_10_of_1kib(benchmark::State& state) {
  const std::string body(kBodyBytes, 'x');
  std::array<std::string_view, 10> bodies;
  bodies.fill(body);
  std::array<redrive::Md5, 10> digests;
  for (auto _ : state) {
    redrive::md5_many(bodies, digests);
    benchmark::DoNotOptimize(digests);
  }
  count_bytes(state, bodies.size() * kBodyBytes);
}
BENCHMARK(md5_10_of_1kib);

void crc32c_1kib(benchmark::State& state) {
  const std::string body(kBodyBytes, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(redrive::crc32c(body));
  count_bytes(state, kBodyBytes);
}
BENCHMARK(crc32c_1kib);

}  // namespace
