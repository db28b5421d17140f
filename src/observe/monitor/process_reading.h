#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/journal/journal.h"
#include "net/http/server.h"
#include "observe/monitor/disk_watch.h"

namespace redrive::monitor {

// This process, according to the operating system.
struct ProcessReading {
  std::uint64_t resident_bytes = 0;
  double cpu_seconds = 0;
};
ProcessReading read_process();
// Iterates over all of them: not for every second.
std::uint64_t count_open_files();

// Totals of the trace exporter.
struct SpanTotals {
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;
};

// Totals of alarm notices.
struct NoticeTotals {
  std::uint64_t delivered = 0;  // Since the start, like the next two.
  std::uint64_t failed_attempts = 0;
  std::uint64_t given_up = 0;
  std::uint64_t queued = 0;   // Currently: waiting for their first attempt,
  std::uint64_t failing = 0;  // or for another one.
};

// Callbacks for parts of the server without metrics of their own. Each may be empty.
struct Sources {
  std::function<journal::Journal::Totals()> journal;
  std::function<std::vector<journal::Journal::SegmentUse>()> segments;
  std::function<http::Server::Totals()> http;
  std::function<std::size_t()> connections;
  std::function<std::size_t()> waiting_receives;
  std::function<SpanTotals()> spans;
  std::function<NoticeTotals()> notices = {};
  std::function<std::optional<DiskReading>()> disk = {};
};

}  // namespace redrive::monitor
