#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/term/terminal.h"
#include "manage/documents/overview.h"

// The data of `redrive top`, computed from two samples of a server. Values only; texts belong to
// the later sample.

namespace redrive::cli {

struct TopQueue {
  documents::QueueOverview now;
  std::optional<double> in_per_second;  // nullopt: there is only one sample.
  std::optional<double> out_per_second;
  std::optional<double> dead_per_second;  // Into a dead-letter queue; out of any other.

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
  std::vector<TopQueue> queues;  // Longest first.
  std::vector<TopHandler> handlers;
};

// `before` is `seconds` older. Counters that are new or were reset start at zero.
TopView compare_overviews(const documents::Overview& now, const documents::Overview* before,
                          double seconds);

// Maximum size of the output; 0: unlimited. Rows are divided among the parts.
struct TopFrame {
  std::size_t columns = 0;
  std::size_t rows = 0;
};
std::string draw_top(const Terminal& terminal, const TopView& view, const TopFrame& frame);

// The same as one line of JSON.
std::string top_json(const TopView& view);

}  // namespace redrive::cli
