#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/message_view.h"
#include "cli/queue_document.h"
#include "cli/queue_name.h"
#include "cli/table.h"
#include "documents/failures.h"

// redrive dlq groups: what the dead letters of a queue failed of.

namespace redrive::cli {
namespace {

struct DlqGroupsOptions {
  std::string queue;
  std::string group;
  std::string mark;
  std::optional<std::string> note;
};

// Arrivals of the last day, an eighth-block for each hour.
std::string sparkline(const std::vector<std::int64_t>& hourly) {
  constexpr std::string_view kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::int64_t most = 1;
  for (const std::int64_t count : hourly) most = std::max(most, count);
  std::string line;
  for (const std::int64_t count : hourly) {
    line += count == 0 ? " " : kBars[static_cast<std::size_t>((count * 7 + most - 1) / most)];
  }
  return line;
}

void print_distinctions(Session& session, const std::vector<documents::Distinction>& found) {
  if (found.empty()) return;
  session.terminal().out << "what sets them apart from processed messages\n";
  for (const documents::Distinction& distinction : found) {
    session.terminal().out << "  " << harmless(distinction.sentence) << '\n';
    if (!distinction.filter.empty()) {
      session.terminal().out << "    "
                             << paint(session.terminal(),
                                      Color::dim,
                                      "--filter '" + harmless(distinction.filter) + "'")
                             << '\n';
    }
  }
}

void print_group(Session& session, const documents::FailureGroup& group) {
  if (session.json) {
    session.terminal().out << json_line(group);
    return;
  }
  const auto joined = [](const std::vector<std::string_view>& names) {
    return harmless(fmt::format("{}", fmt::join(names, ", ")));
  };
  std::vector<std::pair<std::string, std::string>> lines{
      {"id", harmless(group.id)},
      {"status", harmless(group.status)},
      {"messages", fmt::format("{} now, {} in all", group.count, group.total)},
      {"first seen", harmless(group.first_seen)},
      {"last seen", harmless(group.last_seen)},
      {"last 24 h", "[" + sparkline(group.hourly) + "]"},
      {"from", joined(group.sources)},
      {"received by", joined(group.consumers)},
      {"grouped by", harmless(group.why_grouped)}};
  if (group.deploy) lines.emplace_back("deploy", harmless(group.deploy->sentence));
  if (group.failed_again > 0)
    lines.emplace_back("failed again", fmt::format("{} after a redrive", group.failed_again));
  if (!group.note.empty()) lines.emplace_back("note", harmless(group.note));
  if (group.sample) lines.emplace_back("sample", fmt::format("message {}", *group.sample));
  session.terminal().out << paint(session.terminal(), Color::bold, harmless(group.title)) << '\n'
                         << name_value_lines(session.terminal(), lines, 2);
  print_distinctions(session, group.sets_apart);
}

// Only what can be acted on: groups that began with a deploy.
void print_deploys(Session& session, const std::vector<documents::FailureGroup>& groups) {
  for (const documents::FailureGroup& group : groups) {
    if (!group.deploy || group.deploy->verdict != "began-with") continue;
    session.terminal().out << fmt::format(
        "{}: {}\n", harmless(group.id.substr(0, 8)), harmless(group.deploy->sentence));
  }
}

Answer<void> list_failure_groups(Session& session, const std::string& path) {
  const auto reply = TRY(session.service.manage<documents::FailureGroups>("GET", path));
  if (session.json) {
    for (const auto& group : reply->groups) session.terminal().out << json_line(group);
    return {};
  }
  using enum Table::Align;
  Table table({{"COUNT", right}, {"STATUS"}, {"LAST SEEN"}, {"24 H"}, {"GROUP"}, {"TITLE"}});
  for (const auto& group : reply->groups) {
    table.add({fmt::format("{}", group.count),
               harmless(group.status),
               harmless(group.last_seen),
               "[" + sparkline(group.hourly) + "]",
               harmless(group.id),
               harmless(group.title)});
  }
  if (table.empty()) {
    session.terminal().err << "no failure groups\n";
    return {};
  }
  session.terminal().out << table.text(session.terminal());
  print_deploys(session, reply->groups);
  print_distinctions(session, reply->sets_apart);
  return {};
}

Answer<void> run_dlq_groups(const DlqGroupsOptions& options, Session& session) {
  const std::string name = percent_encode(queue_name_of(options.queue), false);
  const std::string path = fmt::format("queues/{}/groups", name);
  if (options.group.empty()) {
    if (!options.mark.empty()) return usage_failure("--mark which GROUP?");
    return list_failure_groups(session, path);
  }
  const std::string one = path + "/" + options.group;
  if (!options.mark.empty()) {
    std::string body =
        TRY(request_body(documents::GroupMark{.status = options.mark, .note = options.note}));
    TRY(session.service.manage<documents::FailureGroup>("POST", one, std::move(body)));
  }
  const auto group = TRY(session.service.manage<documents::FailureGroup>("GET", one));
  print_group(session, *group);
  return {};
}

}  // namespace

void add_dlq_groups(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqGroupsOptions>();
  Verb verb = parent.verb("groups", "Show what dead letters failed of, and what sets them apart");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.option("GROUP", options->group, "Id of one group, for all about it");
  const Option mark =
      verb.option("--mark", options->mark, "What is to be thought of it from now on")
          .one_of({"new", "known", "ignored", "resolved"});
  verb.option("--note", options->note, "In words").needs(mark);
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_groups(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
