// redrive-bench: measures a running server.
//
//   send   producers only; latency of a request
//   drain  receives and deletes until the queue is empty; latency of the pair
//   e2e    half the connections produce, half consume by long polls, with a bounded number of
//          messages between them; latency from the send to the arrival
//   wake   the same latency on an otherwise idle server, one message at a time

#include <fmt/format.h>

#include "bench/caller.h"
#include "bench/cast.h"
#include "bench/load.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/wake.h"

namespace {

using namespace redrive::bench;
using redrive::Result;

// Times of server and generator at one moment.
struct Reading {
  Nanos time = now();
  Nanos own_cpu = own_cpu_time();
  std::optional<Nanos> server_cpu;

  explicit Reading(const Options& options)
      : server_cpu(options.server ? cpu_time_of(*options.server) : std::nullopt) {}
};

void note_times(Measurement& run, const Reading& before, const Reading& after) {
  run.elapsed = after.time - before.time;
  run.generator_cpu = after.own_cpu - before.own_cpu;
  if (before.server_cpu && after.server_cpu)
    run.server_cpu = *after.server_cpu - *before.server_cpu;
}

// For servers that push, nothing tells a consumer that the queue is empty, so messages are counted.
bool is_drained(const Options& options, const Tally& tally) {
  return options.mode == Mode::drain && options.count > 0 && tally.deleted >= options.count;
}

Result<Measurement> run_load(const Options& options) {
  const auto cast = TRY(Cast::make(options));
  const auto idle = TRY(cast->wait_in_long_polls());
  const auto load = TRY(Load::open(options.endpoint, cast->actors()));
  const auto time_max =
      std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(options.seconds));
  const Tally& tally = cast->tally();
  Measurement run;
  const Reading before(options);
  RETURN_IF_ERROR(load->run(time_max, [&] { return is_drained(options, tally); }));
  note_times(run, before, Reading(options));
  run.requests = tally.requests;
  run.messages = options.mode == Mode::send ? tally.sent : tally.deleted;
  run.latencies = tally.latencies;
  return run;
}

Result<Measurement> run_wake(const Options& options) {
  constexpr int kRequestsPerSample = 3;
  WakeShape shape{.body_bytes = options.body_bytes};
  if (options.count > 0) shape.samples = static_cast<int>(options.count);
  const std::string queue_url = TRY(create_queue(options.endpoint, options.queue));
  Measurement run;
  const Reading before(options);
  run.latencies = TRY(measure_wake(options.endpoint, queue_url, shape));
  note_times(run, before, Reading(options));
  run.messages = shape.samples;
  run.requests = kRequestsPerSample * shape.samples;
  return run;
}

Result<std::string> measure(const Options& options) {
  if (options.core) RETURN_IF_ERROR(pin_to_core(*options.core));
  raise_file_limit();
  const Measurement run =
      options.mode == Mode::wake ? TRY(run_wake(options)) : TRY(run_load(options));
  return report(options, run, machine_name());
}

}  // namespace

int main(int argc, char** argv) {
  const Parsed parsed = parse_options(argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  const auto text = measure(parsed.options);
  if (!text) {
    fmt::print(stderr, "redrive-bench: {}\n", text.error().message);
    return text.error().code == redrive::ErrorCode::usage ? 2 : 1;
  }
  fmt::print("{}", *text);
  return 0;
}
