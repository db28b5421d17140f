#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "documents/overview.h"

// What `redrive top` shows: two looks at a server, made one picture. Values only; the texts are
// those of the later look.

namespace redrive::cli {

struct TopQueue {
  documents::QueueOverview now;
  std::optional<double> in_per_second;  // Absent: there is only one look.
  std::optional<double> out_per_second;
  std::optional<double> dead_per_second;  // Into it, of a dead-letter queue; else out of it.

  std::int64_t backlog() const { return now.visible + now.in_flight + now.delayed; }
  bool is_dead_letter_queue() const { return !now.sources.empty(); }
};

struct TopHandler {
  documents::HandlerOverview now;
  std::optional<double> runs_per_second;
  std::optional<double> messages_per_second;
  std::optional<double> failed_per_second;
};

struct TopView {
  const documents::Overview* now = nullptr;
  std::vector<TopQueue> queues;  // The longest first.
  std::vector<TopHandler> handlers;
};

// `before` lies so many seconds back. What has come since then, or counts anew, began at zero.
TopView compare_overviews(const documents::Overview& now, const documents::Overview* before,
                          double seconds);

// A picture of at most so many columns; 0: as wide as it needs. At most so many rows, of which each
// part gets its share; 0: all.
struct TopFrame {
  std::size_t columns = 0;
  std::size_t rows = 0;
};
std::string draw_top(const Terminal& terminal, const TopView& view, const TopFrame& frame);

// The same as one line of JSON.
std::string top_json(const TopView& view);

}  // namespace redrive::cli
