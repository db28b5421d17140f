#include "observe/topology/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/client/queue_document.h"
#include "cli/client/topology_reader.h"
#include "cli/commands/commands.h"

// redrive doctor: finds misconfigured queues and suggests fixes.

namespace redrive::cli {
namespace {

using topology::Finding;
using topology::Severity;

struct DoctorOptions {
  std::vector<std::string> queues;
  std::string fail_on = "problem";
};

struct FindingDocument {
  std::string_view severity;
  std::string_view rule;
  std::string_view queue;
  std::string_view what;
  std::string_view why;
  std::string_view fix;
};
consteval auto shape_of(FindingDocument*) {
  using Document = FindingDocument;
  return wire::shape(wire::required("severity", &Document::severity),
                     wire::required("rule", &Document::rule),
                     wire::required("queue", &Document::queue),
                     wire::required("what", &Document::what),
                     wire::required("why", &Document::why),
                     wire::required("fix", &Document::fix));
}

Color color_of(Severity severity) {
  switch (severity) {
    case Severity::problem:
      return Color::red;
    case Severity::warning:
      return Color::yellow;
    case Severity::advice:
      return Color::cyan;
  }
  return Color::cyan;
}

std::string finding_text(const Terminal& terminal, const Finding& finding) {
  const std::string subject =
      finding.queue.empty() ? "" : paint(terminal, Color::bold, harmless(finding.queue)) + ": ";
  return fmt::format("{}  {}{}\n  {}\n  fix: {}\n",
                     paint(terminal, color_of(finding.severity), name_of(finding.severity)),
                     subject,
                     harmless(finding.what),
                     paint(terminal, Color::dim, finding.why),
                     harmless(finding.fix));
}

void print_finding(Session& session, const Finding& finding) {
  if (!session.json) {
    session.terminal().out << finding_text(session.terminal(), finding);
    return;
  }
  session.terminal().out << json_line(FindingDocument{.severity = name_of(finding.severity),
                                                      .rule = finding.rule,
                                                      .queue = finding.queue,
                                                      .what = finding.what,
                                                      .why = finding.why,
                                                      .fix = finding.fix});
}

bool counts(const DoctorOptions& options, const Finding& finding) {
  if (options.fail_on == "never") return false;
  if (options.fail_on == "advice") return true;
  if (options.fail_on == "warning") return finding.severity >= Severity::warning;
  return finding.severity >= Severity::problem;
}

Answer<void> run_doctor(const DoctorOptions& options, Session& session) {
  const auto queues = TRY(read_topology(session, OldestAges::ask));
  const auto wanted = [&](const Finding& finding) {
    return options.queues.empty() ||
           std::ranges::find(options.queues, finding.queue) != options.queues.end();
  };
  std::size_t found = 0;
  bool failed = false;
  for (const Finding& finding : examine(queues)) {
    if (!wanted(finding)) continue;
    print_finding(session, finding);
    failed = failed || counts(options, finding);
    ++found;
  }
  if (!session.json) {
    session.terminal().err << fmt::format("{} {} examined, {} found\n",
                                          queues.queues().size(),
                                          queues.queues().size() == 1 ? "queue" : "queues",
                                          found == 0 ? "nothing" : std::to_string(found));
  }
  if (failed) return std::unexpected(Failure{Failure::Kind::reported, "", ""});
  return {};
}

}  // namespace

void add_doctor(Verb parent, Commands& commands) {
  auto options = std::make_shared<DoctorOptions>();
  Verb verb =
      parent.verb("doctor", "Find configuration problems, each with a command that fixes it");
  verb.option("QUEUE", options->queues, "Only check these queues").many();
  verb.option("--fail-on",
              options->fail_on,
              "Lowest severity for exit code 1: advice, warning, problem, never")
      .one_of({"advice", "warning", "problem", "never"})
      .shows_default();
  commands.attach(verb, [options](Session& session) { return run_doctor(*options, session); });
}

}  // namespace redrive::cli
