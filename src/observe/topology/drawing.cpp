#include "observe/topology/drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace redrive::topology {
namespace {

std::string counts_of(const Queue& queue) {
  std::vector<std::string> parts;
  const auto part = [&](std::int64_t count, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  part(queue.visible, "visible");
  part(queue.in_flight, "in flight");
  part(queue.delayed, "delayed");
  return parts.empty() ? "empty" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string after(const Queue& queue) {
  const std::int64_t count = queue.target->receive_count_max;
  return fmt::format("after {} {}", count, count == 1 ? "receive" : "receives");
}

// Dead-letter queues that are referenced but do not exist, sorted.
std::set<std::string_view> missing_targets(const Topology& topology) {
  std::set<std::string_view> missing;
  for (const Queue& queue : topology.queues()) {
    if (queue.target && topology.find(queue.target->arn) == nullptr) {
      missing.insert(queue.target->arn);
    }
  }
  return missing;
}

std::string_view absence(const Topology& topology, std::string_view arn) {
  return topology.is_unseen(arn) ? "not accessible" : "does not exist";
}

class TreeDrawing {
 public:
  explicit TreeDrawing(const Topology& topology) : topology_(topology) {}

  std::string draw() {
    for (const std::string_view arn : missing_targets(topology_)) {
      out_ += fmt::format("{}  {}\n", name_of_arn(arn), absence(topology_, arn));
      draw_sources(arn, "");
    }
    draw_roots(true);
    draw_loops();
    draw_roots(false);
    return std::move(out_);
  }

 private:
  void draw_roots(bool with_sources) {
    for (const Queue& queue : topology_.queues()) {
      if (queue.target || topology_.is_dead_letter_queue(queue) != with_sources) continue;
      draw_queue(queue, "");
      draw_sources(queue.arn, "");
    }
  }

  // A loop has no root: it is drawn from its alphabetically first queue back to it.
  void draw_loops() {
    for (const Queue& queue : topology_.queues()) {
      if (drawn_.contains(&queue) || topology_.loop_of(queue).empty()) continue;
      draw_queue(queue, "");
      draw_sources(queue.arn, "");
    }
  }

  void draw_queue(const Queue& queue, std::string_view before) {
    drawn_.insert(&queue);
    out_ += fmt::format("{}{}  {}", before, queue.name(), counts_of(queue));
    if (queue.target) out_ += "; " + after(queue);
    for (const Handler* handler : topology_.handlers_of(queue.arn)) {
      out_ += fmt::format("; feeds {}{}", handler->function, handler->enabled ? "" : " (disabled)");
    }
    out_ += '\n';
  }

  void draw_sources(std::string_view arn, const std::string& indent) {
    const auto sources = topology_.sources_of(arn);
    for (const Queue* source : sources) {
      const bool last = source == sources.back();
      const std::string branch = indent + (last ? "└─ " : "├─ ");
      if (drawn_.contains(source)) {
        out_ += fmt::format("{}{}  (a loop)\n", branch, source->name());
        continue;
      }
      draw_queue(*source, branch);
      draw_sources(source->arn, indent + (last ? "   " : "│  "));
    }
  }

  const Topology& topology_;
  std::set<const Queue*> drawn_;
  std::string out_;
};

// The functions fed by queues in this drawing, each once.
std::vector<std::string_view> functions_of(const Topology& topology) {
  std::set<std::string_view> names;
  for (const Handler& handler : topology.handlers()) {
    if (topology.find(handler.queue_arn) != nullptr) names.insert(handler.function);
  }
  return {names.begin(), names.end()};
}

// No ARN starts like this, so it cannot collide with a queue's.
std::string function_node(std::string_view name) {
  return fmt::format("function {}", name);
}

std::string_view feeding(const Handler& handler) {
  return handler.enabled ? "feeds" : "disabled";
}

std::string dot_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

// Inside quotes Mermaid supports only entities.
std::string mermaid_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const bool plain = c != '"' && c != '#' && c != '<' && c != '>' && c != '&' && c != '\n';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("#{};", static_cast<int>(c));
    }
  }
  return out + '"';
}

// Numbers nodes in the order in which their ARNs are first mentioned.
class NodeNumbers {
 public:
  explicit NodeNumbers(const Topology& topology) {
    for (const Queue& queue : topology.queues()) arns_.push_back(queue.arn);
    for (const std::string_view arn : missing_targets(topology)) arns_.push_back(arn);
  }
  std::size_t of(std::string_view arn) const {
    return static_cast<std::size_t>(std::ranges::find(arns_, arn) - arns_.begin());
  }

 private:
  std::vector<std::string_view> arns_;
};

}  // namespace

std::string draw_tree(const Topology& topology) {
  return TreeDrawing(topology).draw();
}

std::string draw_dot(const Topology& topology) {
  std::string out = "digraph queues {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const Queue& queue : topology.queues()) {
    out += fmt::format(
        "  {} [label={}{}];\n",
        dot_text(queue.arn),
        dot_text(fmt::format("{} ({})", queue.name(), counts_of(queue))),
        topology.is_dead_letter_queue(queue) ? ", style=filled, fillcolor=lightgrey" : "");
  }
  for (const std::string_view arn : missing_targets(topology)) {
    out += fmt::format("  {} [label={}, style=dashed];\n",
                       dot_text(arn),
                       dot_text(fmt::format("{} {}", name_of_arn(arn), absence(topology, arn))));
  }
  for (const Queue& queue : topology.queues()) {
    if (!queue.target) continue;
    out += fmt::format("  {} -> {} [label={}];\n",
                       dot_text(queue.arn),
                       dot_text(queue.target->arn),
                       dot_text(after(queue)));
  }
  for (const std::string_view function : functions_of(topology)) {
    out += fmt::format(
        "  {} [label={}, shape=ellipse];\n", dot_text(function_node(function)), dot_text(function));
  }
  for (const Handler& handler : topology.handlers()) {
    if (topology.find(handler.queue_arn) == nullptr) continue;
    out += fmt::format("  {} -> {} [label={}{}];\n",
                       dot_text(handler.queue_arn),
                       dot_text(function_node(handler.function)),
                       dot_text(feeding(handler)),
                       handler.enabled ? "" : ", style=dashed");
  }
  return out + "}\n";
}

std::string draw_mermaid(const Topology& topology) {
  const NodeNumbers numbers(topology);
  std::string out = "flowchart LR\n";
  for (const Queue& queue : topology.queues()) {
    const std::string label = mermaid_text(fmt::format("{} ({})", queue.name(), counts_of(queue)));
    const bool dead = topology.is_dead_letter_queue(queue);
    out += fmt::format(
        "  q{}{}{}{}\n", numbers.of(queue.arn), dead ? "[(" : "[", label, dead ? ")]" : "]");
  }
  for (const std::string_view arn : missing_targets(topology)) {
    const std::string label = fmt::format("{} {}", name_of_arn(arn), absence(topology, arn));
    out += fmt::format("  q{}{{{{{}}}}}\n", numbers.of(arn), mermaid_text(label));
  }
  for (const Queue& queue : topology.queues()) {
    if (!queue.target) continue;
    out += fmt::format(
        "  q{} -->|{}| q{}\n", numbers.of(queue.arn), after(queue), numbers.of(queue.target->arn));
  }
  const std::vector<std::string_view> functions = functions_of(topology);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    out += fmt::format("  f{}({})\n", i, mermaid_text(functions[i]));
  }
  for (const Handler& handler : topology.handlers()) {
    if (topology.find(handler.queue_arn) == nullptr) continue;
    out += fmt::format("  q{} {}|{}| f{}\n",
                       numbers.of(handler.queue_arn),
                       handler.enabled ? "-->" : "-.->",
                       feeding(handler),
                       std::ranges::find(functions, handler.function) - functions.begin());
  }
  return out;
}

}  // namespace redrive::topology
