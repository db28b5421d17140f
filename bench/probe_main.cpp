// Sends one message every few milliseconds and reports the latencies: how much a client notices of
// the server's other work. bench/probe runs it during expensive operations.

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include "bench/connection.h"
#include "bench/latencies.h"
#include "bench/pauses.h"
#include "bench/reply.h"
#include "bench/requests.h"

namespace redrive::bench {
namespace {

struct ProbeOptions {
  Endpoint endpoint;
  std::string queue_url;
  std::uint32_t every_ms = 5;
};

// The probe must not measure its own wait for a CPU. Requires root; without it the figures include
// the machine's load.
void ask_for_real_time() {
  const sched_param priority{.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
    fmt::print(stderr, "redrive-probe: no real-time priority: the figures include the load\n");
  }
}

// The parent closes our stdin when there is nothing more to measure.
bool is_told_to_stop() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, 0) > 0;
}

void sleep_until(Nanos due) {
  const timespec at{.tv_sec = static_cast<time_t>(due.count() / 1'000'000'000),
                    .tv_nsec = due.count() % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
  }
}

Result<void> send_and_wait(Connection& connection, const std::string& request) {
  connection.out().append(request);
  RETURN_IF_ERROR(connection.flush_all());
  while (true) {
    const auto reply = TRY(parse_reply(connection.in()));
    if (!reply) {
      RETURN_IF_ERROR(connection.read_some());
      continue;
    }
    if (reply->status != 200) {
      return fail(ErrorCode::network,
                  fmt::format("answered with {}: {}", reply->status, reply->body));
    }
    connection.in().erase(0, reply->size);
    return {};
  }
}

// The latencies without the times in which the machine itself stood still.
Latencies without_pauses(const std::vector<std::pair<Nanos, Nanos>>& sends,
                         const std::vector<Pause>& pauses) {
  Latencies own;
  for (const auto& [begin, end] : sends) {
    std::vector<Pause> near;
    std::ranges::copy_if(pauses, std::back_inserter(near), [&](const Pause& pause) {
      return pause.begin < end && pause.end > begin;
    });
    own.add(time_outside(begin, end, std::move(near)));
  }
  return own;
}

Result<void> probe(const ProbeOptions& options) {
  Connection connection = TRY(Connection::open(options.endpoint));
  std::string request;
  append_request(request,
                 options.endpoint,
                 "SendMessage",
                 fmt::format(R"({{"QueueUrl":"{}","MessageBody":"probe"}})", options.queue_url));
  RETURN_IF_ERROR(send_and_wait(connection, request));  // The first one warms up.
  const Nanos period = std::chrono::milliseconds(options.every_ms);
  Latencies latencies;
  std::vector<std::pair<Nanos, Nanos>> sends;
  PauseWatch watch;
  for (Nanos due = now(); !is_told_to_stop(); due = std::max(due + period, now())) {
    sleep_until(due);
    const Nanos begun = now();
    RETURN_IF_ERROR(send_and_wait(connection, request));
    sends.emplace_back(begun, now());
    latencies.add(sends.back().second - begun);
  }
  const Latencies own = without_pauses(sends, watch.stop());
  fmt::print(R"({{"count":{},"p50_ms":{:.3f},"p99_ms":{:.3f},"max_ms":{:.3f},"own_max_ms":{:.3f}}})"
             "\n",
             latencies.count(),
             microseconds(latencies.within(0.5)) / 1e3,
             microseconds(latencies.within(0.99)) / 1e3,
             microseconds(latencies.max()) / 1e3,
             microseconds(own.max()) / 1e3);
  return {};
}

}  // namespace
}  // namespace redrive::bench

int main(int argc, char** argv) {
  using namespace redrive::bench;
  ProbeOptions options;
  CLI::App app("Sends one message every few milliseconds until its input ends; prints latencies.");
  app.add_option("--port", options.endpoint.port, "port of the server on this machine")->required();
  app.add_option("--queue-url", options.queue_url, "where to send")->required();
  app.add_option("--every-ms", options.every_ms, "time between two messages");
  CLI11_PARSE(app, argc, argv);
  ask_for_real_time();
  const auto done = probe(options);
  if (done) return 0;
  fmt::print(stderr, "redrive-probe: {}\n", done.error().message);
  return 1;
}
