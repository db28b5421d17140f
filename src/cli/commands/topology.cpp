#include "observe/topology/topology.h"

#include <fmt/format.h>

#include "cli/client/queue_document.h"
#include "cli/client/topology_reader.h"
#include "cli/commands/commands.h"
#include "observe/topology/drawing.h"

// redrive topology: draws queues and their dead-letter queues.

namespace redrive::cli {
namespace {

struct TopologyOptions {
  bool dot = false;
  bool mermaid = false;
};

struct TopologyHandler {
  std::string_view mapping;
  std::string_view function;
  bool enabled = true;
};
consteval auto shape_of(TopologyHandler*) {
  return wire::shape(wire::required("mapping", &TopologyHandler::mapping),
                     wire::required("function", &TopologyHandler::function),
                     wire::required("enabled", &TopologyHandler::enabled));
}

struct TopologyDocument {
  std::string_view name;
  std::string_view arn;
  bool fifo = false;
  std::int64_t visible = 0;
  std::int64_t in_flight = 0;
  std::int64_t delayed = 0;
  std::optional<std::string_view> dead_letter_target;
  std::optional<std::int64_t> max_receive_count;
  std::optional<bool> target_exists;
  sqs::StringList sources;
  std::vector<TopologyHandler> handlers;
};
consteval auto shape_of(TopologyDocument*) {
  using Document = TopologyDocument;
  return wire::shape(wire::required("name", &Document::name),
                     wire::required("arn", &Document::arn),
                     wire::required("fifo", &Document::fifo),
                     wire::required("visible", &Document::visible),
                     wire::required("inFlight", &Document::in_flight),
                     wire::required("delayed", &Document::delayed),
                     wire::optional("deadLetterTargetArn", &Document::dead_letter_target),
                     wire::optional("maxReceiveCount", &Document::max_receive_count),
                     wire::optional("targetExists", &Document::target_exists),
                     wire::optional("sources", &Document::sources).each("source"),
                     wire::optional("handlers", &Document::handlers).each("handler"));
}

std::string topology_line(const topology::Topology& queues, const topology::Queue& queue) {
  TopologyDocument document{.name = queue.name(),
                            .arn = queue.arn,
                            .fifo = queue.fifo,
                            .visible = queue.visible,
                            .in_flight = queue.in_flight,
                            .delayed = queue.delayed};
  if (queue.target) {
    document.dead_letter_target = queue.target->arn;
    document.max_receive_count = queue.target->receive_count_max;
    // Unknown if we are not allowed to see the target.
    if (!queues.is_unseen(queue.target->arn)) {
      document.target_exists = queues.target_of(queue) != nullptr;
    }
  }
  for (const topology::Queue* source : queues.sources_of(queue.arn)) {
    document.sources.push_back(source->arn);
  }
  for (const topology::Handler* handler : queues.handlers_of(queue.arn)) {
    document.handlers.push_back({handler->mapping, handler->function, handler->enabled});
  }
  return json_line(document);
}

Answer<void> run_topology(const TopologyOptions& options, Session& session) {
  const auto queues = TRY(read_topology(session, OldestAges::leave_out));
  auto& out = session.terminal().out;
  if (session.json) {
    for (const auto& queue : queues.queues()) out << topology_line(queues, queue);
  } else if (options.dot) {
    out << harmless_lines(draw_dot(queues));
  } else if (options.mermaid) {
    out << harmless_lines(draw_mermaid(queues));
  } else if (queues.queues().empty()) {
    session.terminal().err << "no queues\n";
  } else {
    out << harmless_lines(draw_tree(queues));
  }
  return {};
}

}  // namespace

void add_topology(Verb parent, Commands& commands) {
  auto options = std::make_shared<TopologyOptions>();
  Verb verb = parent.verb("topology", "Draw queues, their dead-letter queues and functions");
  const Option dot = verb.flag("--dot", options->dot, "Output for Graphviz");
  verb.flag("--mermaid", options->mermaid, "Output for Mermaid, as used in Markdown").excludes(dot);
  commands.attach(verb, [options](Session& session) { return run_topology(*options, session); });
}

}  // namespace redrive::cli
