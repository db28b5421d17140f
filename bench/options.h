#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "bench/connection.h"
#include "bench/nanos.h"

namespace redrive::bench {

enum class Mode { send, drain, e2e, wake };
enum class Protocol { sqs, redis, beanstalk, nats, amqp };
enum class Format { text, json, csv };

// Command-line options of redrive-bench.
struct Options {
  Mode mode = Mode::send;
  Protocol protocol = Protocol::sqs;
  Endpoint endpoint;
  std::string queue = "bench";
  std::string queue_url;  // If given, nothing is created: the server need not be a queue at all.
  int queues = 1;         // More than one: producers send to `queue-0`, `queue-1`, … in turn.
  int groups = 0;         // Positive: a FIFO queue; sends go to that many groups in turn.
  int idle_polls = 0;     // Long polls that wait at a separate queue while the load runs.
  int connections = 32;
  int batch = 1;
  int receive_batch = 10;
  std::size_t body_bytes = 1024;
  std::int64_t window = 512;
  int wait_seconds = 1;
  double seconds = 2;
  std::int64_t count = 0;
  std::optional<pid_t> server;
  std::optional<int> core;
  Format format = Format::text;
  std::string label = "redrive";
  std::string commit = "unknown";
};

// The parsed command line, or the exit code if the program ends here (help, or an error).
struct Parsed {
  Options options;
  std::optional<int> exit_code;
};
Parsed parse_options(int argc, const char* const* argv);

const char* name_of(Mode mode);

}  // namespace redrive::bench
