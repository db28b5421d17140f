#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "http/server.h"
#include "journal/journal.h"
#include "monitor/disk_watch.h"

namespace redrive::monitor {

// This process, as the system sees it.
struct ProcessReading {
  std::uint64_t resident_bytes = 0;
  double cpu_seconds = 0;
};
ProcessReading read_process();
// Looks at each of them: not for every second.
std::uint64_t count_open_files();

// Of the exporter of traces.
struct SpanTotals {
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;
};

// Of the notices of alarms.
struct NoticeTotals {
  std::uint64_t delivered = 0;  // Since the start, as the next two.
  std::uint64_t failed_attempts = 0;
  std::uint64_t given_up = 0;
  std::uint64_t queued = 0;   // Now: waiting for their first attempt,
  std::uint64_t failing = 0;  // or for another one.
};

// What the parts of the server that have no metrics of their own can be asked for. Each may be
// empty.
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
