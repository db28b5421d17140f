#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/client/message_view.h"
#include "cli/client/queue_document.h"
#include "cli/client/topology_reader.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"

// redrive dlq ls: the dead-letter queues, their contents and their source queues.

namespace redrive::cli {
namespace {

struct DlqDocument {
  std::string_view name;
  std::string_view arn;
  std::int64_t messages = 0;
  std::int64_t in_flight = 0;
  std::optional<std::int64_t> oldest_age_seconds;
  std::optional<std::int64_t> oldest_expires_in_seconds;
  sqs::StringList sources;
};
consteval auto shape_of(DlqDocument*) {
  using Document = DlqDocument;
  return wire::shape(wire::required("name", &Document::name),
                     wire::required("arn", &Document::arn),
                     wire::required("messages", &Document::messages),
                     wire::required("inFlight", &Document::in_flight),
                     wire::optional("oldestAgeSeconds", &Document::oldest_age_seconds),
                     wire::optional("oldestExpiresInSeconds", &Document::oldest_expires_in_seconds),
                     wire::optional("sources", &Document::sources).each("source"));
}

std::int64_t whole_seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

std::string dlq_line(const topology::Topology& queues, const topology::Queue& queue) {
  DlqDocument document{.name = queue.name(),
                       .arn = queue.arn,
                       .messages = queue.messages(),
                       .in_flight = queue.in_flight};
  if (queue.oldest_expires_in) {
    document.oldest_age_seconds = whole_seconds(queue.retention - *queue.oldest_expires_in);
    document.oldest_expires_in_seconds = whole_seconds(*queue.oldest_expires_in);
  }
  for (const topology::Queue* source : queues.sources_of(queue.arn)) {
    document.sources.push_back(source->arn);
  }
  return json_line(document);
}

void add_dlq_row(Table& table, const topology::Topology& queues, const topology::Queue& queue) {
  std::vector<std::string_view> sources;
  for (const topology::Queue* source : queues.sources_of(queue.arn)) {
    sources.push_back(source->name());
  }
  const auto oldest = queue.oldest_expires_in;
  table.add({harmless(queue.name()),
             std::to_string(queue.messages()),
             std::to_string(queue.in_flight),
             oldest ? readable_age(queue.retention - *oldest) : "",
             oldest ? readable_age(*oldest) : "",
             harmless(fmt::format("{}", fmt::join(sources, ", ")))});
}

Answer<void> run_dlq_list(Session& session) {
  using Align = Table::Align;
  const auto queues = TRY(read_topology(session, OldestAges::ask));
  Table table({{"NAME"},
               {"MESSAGES", Align::right},
               {"IN FLIGHT", Align::right},
               {"OLDEST", Align::right},
               {"EXPIRES IN", Align::right},
               {"SOURCES"}});
  for (const topology::Queue& queue : queues.queues()) {
    if (!queues.is_dead_letter_queue(queue)) continue;
    if (session.json) {
      session.terminal().out << dlq_line(queues, queue);
    } else {
      add_dlq_row(table, queues, queue);
    }
  }
  if (session.json) return {};
  if (table.empty()) {
    session.terminal().err << "no dead-letter queues\n";
  } else {
    session.terminal().out << table.text(session.terminal());
  }
  return {};
}

}  // namespace

void add_dlq_list(Verb parent, Commands& commands) {
  Verb verb = parent.verb("ls", "List dead-letter queues with counts, ages and sources");
  commands.attach(verb, run_dlq_list);
}

}  // namespace redrive::cli
