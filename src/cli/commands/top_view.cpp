#include "cli/commands/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/client/queue_document.h"
#include "cli/term/table.h"

namespace redrive::cli {
namespace {

using Align = Table::Align;

constexpr std::size_t kTopNameWidth = 40;
constexpr std::size_t kTopSourcesShown = 3;

double growth_per_second(std::int64_t now, std::int64_t before, double seconds) {
  const std::int64_t more = now >= before ? now - before : now;
  return seconds > 0 ? static_cast<double>(more) / seconds : 0;
}

std::string rate_text(const std::optional<double>& rate) {
  if (!rate) return "-";
  if (*rate == 0) return "0";
  return *rate < 100 ? fmt::format("{:.1f}", *rate) : fmt::format("{:.0f}", *rate);
}

std::string age_text(std::int64_t seconds) {
  if (seconds <= 0) return "-";
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{}d{:02}h", seconds / 86400, seconds / 3600 % 24);
}

// Size in bytes of the first `columns` columns of a line that may contain colour codes.
std::size_t bytes_of_columns(std::string_view line, std::size_t columns) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at + 1;
    const bool color = line[at] == '\x1b';
    if (color) {
      end = std::min(line.find('m', at), line.size() - 1) + 1;
    } else {
      while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) ++end;
      width += display_width(line.substr(at, end - at));
    }
    if (width > columns) return at;
    at = end;
  }
  return line.size();
}

std::string clipped(std::string_view line, std::size_t columns) {
  if (columns == 0) return std::string(line);
  const std::size_t bytes = bytes_of_columns(line, columns);
  std::string out(line.substr(0, bytes));
  if (bytes < line.size() && out.find('\x1b') != std::string::npos) out += "\x1b[0m";
  return out;
}

std::string short_name(std::string_view name) {
  const std::string shown = harmless(name);
  if (display_width(shown) <= kTopNameWidth) return shown;
  return shown.substr(0, bytes_of_columns(shown, kTopNameWidth - 1)) + "…";
}

std::string_view queue_of_arn(std::string_view arn) {
  return arn.substr(arn.rfind(':') + 1);
}

std::string sources_text(const documents::QueueOverview& queue) {
  std::string out;
  for (std::size_t i = 0; i < queue.sources.size(); ++i) {
    if (i == kTopSourcesShown) {
      return out + fmt::format(" and {} more", queue.sources.size() - kTopSourcesShown);
    }
    if (i > 0) out += ", ";
    out += short_name(queue.sources[i]);
  }
  return out;
}

std::string handler_state(const documents::HandlerOverview& handler) {
  if (!handler.enabled) return "disabled";
  if (!handler.polling) return "stuck";
  return handler.slowed_by ? fmt::format("slowed by {}", harmless(*handler.slowed_by)) : "enabled";
}

// A job's progress in percent; with a filter the total is unknown until the end.
std::string job_progress(const documents::Job& job) {
  if (job.to_move <= 0) return fmt::format("{} moved", job.moved);
  return fmt::format("{} of {} ({} %)", job.moved, job.to_move, job.moved * 100 / job.to_move);
}

Table queue_table(const Terminal& terminal, const TopView& view) {
  Table table({{"QUEUE"},
               {"VISIBLE", Align::right},
               {"IN FLIGHT", Align::right},
               {"DELAYED", Align::right},
               {"IN/S", Align::right},
               {"OUT/S", Align::right},
               {"OLDEST", Align::right},
               {"DEAD/S", Align::right},
               {"DEAD-LETTER QUEUE"}});
  for (const TopQueue& queue : view.queues) {
    if (queue.is_dead_letter_queue()) continue;
    const bool failing = queue.dead_per_second.value_or(0) > 0;
    const std::string dead = rate_text(queue.dead_per_second);
    table.add(
        {short_name(queue.now.name),
         std::to_string(queue.now.visible),
         std::to_string(queue.now.in_flight),
         std::to_string(queue.now.delayed),
         rate_text(queue.in_per_second),
         rate_text(queue.out_per_second),
         age_text(queue.now.oldest_age_seconds),
         dead,
         queue.now.dead_letter_queue
             ? (failing ? paint(terminal, Color::red, short_name(*queue.now.dead_letter_queue))
                        : short_name(*queue.now.dead_letter_queue))
             : "-"});
  }
  return table;
}

Table dead_letter_table(const TopView& view) {
  Table table({{"DEAD LETTERS"},
               {"MESSAGES", Align::right},
               {"IN/S", Align::right},
               {"OLDEST", Align::right},
               {"REDRIVEN", Align::right},
               {"OF"}});
  for (const TopQueue& queue : view.queues) {
    if (!queue.is_dead_letter_queue()) continue;
    table.add({short_name(queue.now.name),
               std::to_string(queue.backlog()),
               rate_text(queue.dead_per_second),
               age_text(queue.now.oldest_age_seconds),
               std::to_string(queue.now.redriven),
               sources_text(queue.now)});
  }
  return table;
}

Table handler_table(const Terminal& terminal, const TopView& view) {
  Table table({{"HANDLER"},
               {"RUNNING", Align::right},
               {"RUNS/S", Align::right},
               {"MESSAGES/S", Align::right},
               {"FAILED/S", Align::right},
               {"FAILED", Align::right},
               {"QUEUE"},
               {"STATE"}});
  for (const TopHandler& handler : view.handlers) {
    const auto& now = handler.now;
    const std::string state = handler_state(now);
    table.add(
        {short_name(now.function),
         now.limit > 0 ? fmt::format("{}/{}", now.running, now.limit) : std::to_string(now.running),
         rate_text(handler.runs_per_second),
         rate_text(handler.messages_per_second),
         rate_text(handler.failed_per_second),
         std::to_string(now.failed),
         now.queue_arn ? short_name(queue_of_arn(*now.queue_arn)) : "(asynchronous)",
         state == "enabled" ? state : paint(terminal, Color::yellow, state)});
  }
  return table;
}

Table job_table(const TopView& view) {
  Table table({{"JOB"}, {"STATUS"}, {"PROGRESS"}, {"FAILED AGAIN", Align::right}, {"QUEUE"}});
  for (const documents::Job& job : view.now->jobs) {
    table.add({harmless(job.id.substr(0, 8)),
               harmless(job.status),
               job_progress(job),
               std::to_string(job.failed_again),
               short_name(job.queue)});
  }
  return table;
}

std::string summary(const TopView& view) {
  const documents::Overview& now = *view.now;
  return fmt::format("{}  {} {}, {} visible, {} in flight, {} delayed, {} dead letters",
                     now.now,
                     now.queue_count,
                     now.queue_count == 1 ? "queue" : "queues",
                     now.visible,
                     now.in_flight,
                     now.delayed,
                     now.dead_letters);
}

// The first lines of a table, and the number of lines omitted.
std::string first_lines(const std::string& text, std::size_t rows, std::size_t columns) {
  std::string out;
  std::size_t shown = 0;
  std::size_t left_out = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (rows == 0 || shown < rows) {
      out += clipped(std::string_view(text).substr(at, end - at), columns) + '\n';
      ++shown;
    } else {
      ++left_out;
    }
    at = end + 1;
  }
  if (left_out > 0) out += clipped(fmt::format("… and {} more", left_out), columns) + '\n';
  return out;
}

struct TopQueueDocument {
  documents::QueueOverview queue;
  std::optional<double> in_per_second;
  std::optional<double> out_per_second;
  std::optional<double> dead_per_second;
};
consteval auto shape_of(TopQueueDocument*) {
  using Out = TopQueueDocument;
  return wire::shape(wire::required("queue", &Out::queue),
                     wire::optional("inPerSecond", &Out::in_per_second),
                     wire::optional("outPerSecond", &Out::out_per_second),
                     wire::optional("deadPerSecond", &Out::dead_per_second));
}

struct TopHandlerDocument {
  documents::HandlerOverview handler;
  std::optional<double> runs_per_second;
  std::optional<double> messages_per_second;
  std::optional<double> failed_per_second;
};
consteval auto shape_of(TopHandlerDocument*) {
  using Out = TopHandlerDocument;
  return wire::shape(wire::required("handler", &Out::handler),
                     wire::optional("runsPerSecond", &Out::runs_per_second),
                     wire::optional("messagesPerSecond", &Out::messages_per_second),
                     wire::optional("failedPerSecond", &Out::failed_per_second));
}

using TopDocument = documents::OverviewOf<TopQueueDocument, TopHandlerDocument>;

// Identifies a handler: a mapping, or a function's asynchronous invocations.
std::string handler_key(const documents::HandlerOverview& handler) {
  return handler.mapping ? std::string(*handler.mapping)
                         : fmt::format("async {}", handler.function);
}

TopQueue compare_queues(const documents::QueueOverview& now, const documents::QueueOverview& before,
                        double seconds) {
  const bool dead = !now.sources.empty();
  const auto rate = [&](std::int64_t documents::QueueOverview::*counter) {
    return growth_per_second(now.*counter, before.*counter, seconds);
  };
  using Queue = documents::QueueOverview;
  return {.now = now,
          .in_per_second = rate(&Queue::sent) + rate(&Queue::dead_lettered),
          .out_per_second = rate(&Queue::deleted) + rate(&Queue::redriven) +
                            rate(&Queue::dead_lettered_away) + rate(&Queue::expired),
          .dead_per_second = rate(dead ? &Queue::dead_lettered : &Queue::dead_lettered_away)};
}

TopHandler compare_handlers(const documents::HandlerOverview& now,
                            const documents::HandlerOverview& before, double seconds) {
  const auto rate = [&](std::int64_t documents::HandlerOverview::*counter) {
    return growth_per_second(now.*counter, before.*counter, seconds);
  };
  using Handler = documents::HandlerOverview;
  return {.now = now,
          .runs_per_second = rate(&Handler::runs),
          .messages_per_second = rate(&Handler::messages),
          .failed_per_second = rate(&Handler::failed)};
}

}  // namespace

TopView compare_overviews(const documents::Overview& now, const documents::Overview* before,
                          double seconds) {
  TopView view{.now = &now, .queues = {}, .handlers = {}};
  std::map<std::string, const documents::QueueOverview*> queues;
  std::map<std::string, const documents::HandlerOverview*> handlers;
  if (before != nullptr) {
    for (const auto& queue : before->queues) queues.emplace(queue.name, &queue);
    for (const auto& handler : before->handlers) handlers.emplace(handler_key(handler), &handler);
  }
  for (const auto& queue : now.queues) {
    const auto former = queues.find(std::string(queue.name));
    view.queues.push_back(former == queues.end() ? TopQueue{.now = queue}
                                                 : compare_queues(queue, *former->second, seconds));
  }
  for (const auto& handler : now.handlers) {
    const auto former = handlers.find(handler_key(handler));
    view.handlers.push_back(former == handlers.end()
                                ? TopHandler{.now = handler}
                                : compare_handlers(handler, *former->second, seconds));
  }
  std::ranges::stable_sort(view.queues, std::ranges::greater(), &TopQueue::backlog);
  std::ranges::stable_sort(view.handlers, std::ranges::greater(), [](const TopHandler& handler) {
    return handler.messages_per_second.value_or(0);
  });
  return view;
}

std::string draw_top(const Terminal& terminal, const TopView& view, const TopFrame& frame) {
  std::vector<std::string> parts;
  const auto add = [&](const Table& table) {
    if (!table.empty()) parts.push_back(table.text(terminal));
  };
  add(queue_table(terminal, view));
  add(dead_letter_table(view));
  add(handler_table(terminal, view));
  add(job_table(view));
  std::string out = clipped(paint(terminal, Color::bold, summary(view)), frame.columns) + '\n';
  // Each part has a blank line before it, a heading, and a line for omitted rows.
  std::size_t share = 0;
  if (frame.rows > 0 && !parts.empty()) {
    const std::size_t each = (frame.rows - 1) / parts.size();
    share = each > 4 ? each - 2 : 2;
  }
  for (const std::string& part : parts) out += '\n' + first_lines(part, share, frame.columns);
  return out;
}

std::string top_json(const TopView& view) {
  const documents::Overview& now = *view.now;
  TopDocument document{.now = now.now,
                       .queue_count = now.queue_count,
                       .visible = now.visible,
                       .in_flight = now.in_flight,
                       .delayed = now.delayed,
                       .dead_letters = now.dead_letters,
                       .queues = {},
                       .handlers = {},
                       .jobs = now.jobs};
  for (const TopQueue& queue : view.queues) {
    document.queues.push_back(
        {queue.now, queue.in_per_second, queue.out_per_second, queue.dead_per_second});
  }
  for (const TopHandler& handler : view.handlers) {
    document.handlers.push_back({handler.now,
                                 handler.runs_per_second,
                                 handler.messages_per_second,
                                 handler.failed_per_second});
  }
  return json_line(document);
}

}  // namespace redrive::cli
