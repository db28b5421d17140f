// redrive-bench: one question to a running server, asked many times.
//
//   send   producers only; latency of a request
//   drain  ReceiveMessage and DeleteMessageBatch until the queue is empty; latency of the pair
//   e2e    half the connections produce, half consume by long polls, with a bounded number of
//          messages between them; latency from the send to the arrival
//   wake   the same latency on a server that is otherwise idle, one message at a time

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "bench/actors.h"
#include "bench/caller.h"
#include "bench/load.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/requests.h"
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

struct Cast {
  SendRequest send;
  Consumer::Target target;
  Tally tally;

  std::vector<std::unique_ptr<Actor>> actors(const Options& options) {
    const Producer::Limits limits{.batch = options.batch,
                                  .count = options.count,
                                  .window = options.mode == Mode::e2e ? options.window : 0};
    std::vector<std::unique_ptr<Actor>> out;
    for (int i = 0; i < options.connections; ++i) {
      const bool consumes =
          options.mode == Mode::drain || (options.mode == Mode::e2e && i % 2 == 1);
      if (consumes) {
        out.push_back(std::make_unique<Consumer>(target, tally));
      } else {
        out.push_back(std::make_unique<Producer>(send, limits, tally));
      }
    }
    return out;
  }
};

Cast make_cast(const Options& options, const std::string& queue_url) {
  const bool waits = options.mode == Mode::e2e;
  return {.send = {options.endpoint,
                   queue_url,
                   {.batch = options.batch, .body_bytes = options.body_bytes}},
          .target = {.endpoint = options.endpoint,
                     .queue_url = queue_url,
                     .receive_request =
                         receive_request(options.endpoint,
                                         queue_url,
                                         {.messages_max = options.receive_batch,
                                          .wait_seconds = waits ? options.wait_seconds : 0}),
                     .until = waits ? Consumer::Until::stopped : Consumer::Until::empty},
          .tally = {}};
}

Result<Measurement> run_load(const Options& options, const std::string& queue_url) {
  Cast cast = make_cast(options, queue_url);
  const auto load = TRY(Load::open(options.endpoint, cast.actors(options)));
  const auto time_max =
      std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(options.seconds));
  Measurement run;
  const Reading before(options);
  CHECK(load->run(time_max));
  note_times(run, before, Reading(options));
  run.requests = cast.tally.requests;
  run.messages = options.mode == Mode::send ? cast.tally.sent : cast.tally.deleted;
  run.latencies = std::move(cast.tally.latencies);
  return run;
}

Result<Measurement> run_wake(const Options& options, const std::string& queue_url) {
  constexpr int kRequestsPerSample = 3;
  WakeShape shape{.body_bytes = options.body_bytes};
  if (options.count > 0) shape.samples = static_cast<int>(options.count);
  Measurement run;
  const Reading before(options);
  run.latencies = TRY(measure_wake(options.endpoint, queue_url, shape));
  note_times(run, before, Reading(options));
  run.messages = shape.samples;
  run.requests = kRequestsPerSample * shape.samples;
  return run;
}

Result<std::string> measure(const Options& options) {
  if (options.core) CHECK(pin_to_core(*options.core));
  const std::string queue_url = options.queue_url.empty()
                                    ? TRY(create_queue(options.endpoint, options.queue))
                                    : options.queue_url;
  const Measurement run = options.mode == Mode::wake ? TRY(run_wake(options, queue_url))
                                                     : TRY(run_load(options, queue_url));
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
