#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/message_view.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"
#include "manage/documents/failures.h"

// redrive dlq groups: why the dead letters of a queue failed.

namespace redrive::cli {
namespace {

struct DlqGroupsOptions {
  std::string queue;
  std::string group;
  std::string mark;
  std::optional<std::string> note;
  std::optional<std::string> owner;
  std::optional<std::string> ignore_until;
  std::optional<std::int64_t> ignore_count;

  bool marks() const { return !mark.empty() || note || owner || ignore_until || ignore_count; }
};

std::string status_of(const documents::FailureGroup& group) {
  return harmless(group.status) + (group.escalating ? ", escalating" : "");
}

std::string ignored_text(const documents::FailureGroup& group) {
  std::vector<std::string> limits;
  if (!group.ignored_until.empty()) limits.push_back(harmless(group.ignored_until));
  if (group.ignored_to_total) {
    limits.push_back(fmt::format("{} have arrived in total", *group.ignored_to_total));
  }
  return fmt::format("{}", fmt::join(limits, " or "));
}

// Arrivals as a sparkline, one bar per hour or day.
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
      {"status", status_of(group)},
      {"messages", fmt::format("{} now, {} in total", group.count, group.total)},
      {"first seen", harmless(group.first_seen)},
      {"last seen", harmless(group.last_seen)},
      {"last 24 h", "[" + sparkline(group.hourly) + "]"},
      {"last 14 days", "[" + sparkline(group.daily) + "]"},
      {"from", joined(group.sources)},
      {"received by", joined(group.consumers)},
      {"grouped by", harmless(group.why_grouped)}};
  if (group.deploy) lines.emplace_back("deploy", harmless(group.deploy->sentence));
  if (group.failed_again > 0)
    lines.emplace_back("failed again", fmt::format("{} after a redrive", group.failed_again));
  if (const std::string until = ignored_text(group); !until.empty()) {
    lines.emplace_back("ignored until", until);
  }
  if (!group.owner.empty()) lines.emplace_back("owner", harmless(group.owner));
  if (!group.note.empty()) lines.emplace_back("note", harmless(group.note));
  if (group.sample) lines.emplace_back("sample", fmt::format("message {}", *group.sample));
  session.terminal().out << paint(session.terminal(), Color::bold, harmless(group.title)) << '\n'
                         << name_value_lines(session.terminal(), lines, 2);
  if (!group.marks.empty()) session.terminal().out << "timeline\n";
  for (const documents::TimelineMark& mark : group.marks) {
    session.terminal().out << fmt::format("  {}  {} {} {}\n",
                                          harmless(mark.at),
                                          harmless(mark.kind),
                                          harmless(mark.id),
                                          harmless(mark.text));
  }
  print_distinctions(session, group.sets_apart);
}

// Only actionable ones: groups that began with a deploy.
void print_deploys(Session& session, const std::vector<documents::FailureGroup>& groups) {
  for (const documents::FailureGroup& group : groups) {
    if (!group.deploy || group.deploy->verdict != "began-with") continue;
    session.terminal().out << fmt::format(
        "{}: {}\n", harmless(group.id.substr(0, 8)), harmless(group.deploy->sentence));
  }
}

Answer<void> list_all_failure_groups(Session& session) {
  const auto reply = TRY(session.service.manage<documents::AllFailureGroups>("GET", "groups"));
  if (session.json) {
    for (const auto& group : reply->groups) session.terminal().out << json_line(group);
    return {};
  }
  using enum Table::Align;
  Table table({{"QUEUE"},
               {"COUNT", right},
               {"STATUS"},
               {"FIRST SEEN"},
               {"LAST SEEN"},
               {"14 DAYS"},
               {"OWNER"},
               {"GROUP"},
               {"TITLE"}});
  for (const auto& group : reply->groups) {
    table.add({harmless(group.queue),
               fmt::format("{}", group.count),
               status_of(group),
               harmless(group.first_seen),
               harmless(group.last_seen),
               "[" + sparkline(group.daily) + "]",
               harmless(group.owner),
               harmless(group.id),
               harmless(group.title)});
  }
  if (table.empty()) {
    session.terminal().err << "no failure groups\n";
  } else {
    session.terminal().out << table.text(session.terminal());
  }
  return {};
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
               status_of(group),
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
  if (options.group.empty() && options.marks()) {
    return usage_failure("--mark, --note, --owner and --ignore-… require GROUP");
  }
  if (options.queue.empty()) return list_all_failure_groups(session);
  const std::string name = percent_encode(queue_name_of(options.queue), false);
  const std::string path = fmt::format("queues/{}/groups", name);
  if (options.group.empty()) return list_failure_groups(session, path);
  const std::string one = path + "/" + percent_encode(options.group, false);
  if (options.marks()) {
    const bool ignores = options.ignore_until || options.ignore_count;
    const std::string status = options.mark.empty() && ignores ? "ignored" : options.mark;
    documents::GroupMark mark{.status = std::nullopt,
                              .note = options.note,
                              .owner = options.owner,
                              .ignore_until = options.ignore_until,
                              .ignore_count = options.ignore_count};
    if (!status.empty()) mark.status = status;
    std::string body = TRY(request_body(mark));
    TRY(session.service.manage<documents::FailureGroup>("POST", one, std::move(body)));
  }
  const auto group = TRY(session.service.manage<documents::FailureGroup>("GET", one));
  print_group(session, *group);
  return {};
}

}  // namespace

void add_dlq_groups(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqGroupsOptions>();
  Verb verb = parent.verb("groups", "Show why dead letters failed, and what sets them apart");
  verb.option("QUEUE", options->queue, "Queue name, URL or ARN (default: all dead-letter queues)");
  verb.option("GROUP", options->group, "Show one group in detail, by id or unique prefix");
  verb.option("--mark", options->mark, "Set the group's status")
      .one_of({"new", "known", "ignored", "resolved"});
  verb.option("--note", options->note, "Set the group's note");
  verb.option("--owner", options->owner, "Set the group's owner; '' removes it");
  verb.option("--ignore-until", options->ignore_until, "Ignore the group until this time")
      .value_name("TIME");
  verb.option("--ignore-count",
              options->ignore_count,
              "Ignore the group until this many more have arrived")
      .range(1, 1'000'000'000);
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_groups(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
