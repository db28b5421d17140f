#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"
#include "manage/documents/failures.h"

// redrive dlq group merge|split|rules: manual changes to failure groups.

namespace redrive::cli {
namespace {

struct GroupRuleOptions {
  std::string queue;
  std::string group;
  std::string into;
  std::string where;
  std::string title;
  std::optional<std::int64_t> remove;
};

std::string path_of(const GroupRuleOptions& options, std::string_view rest) {
  return fmt::format("queues/{}/{}", percent_encode(queue_name_of(options.queue), false), rest);
}

std::string group_path(const GroupRuleOptions& options, std::string_view verb) {
  return path_of(options, fmt::format("groups/{}/{}", percent_encode(options.group, false), verb));
}

void print_rules(Session& session, const documents::GroupRules& reply) {
  if (session.json) {
    for (const auto& rule : reply.rules) session.terminal().out << json_line(rule);
    return;
  }
  using enum Table::Align;
  Table table({{"RULE", right}, {"KIND"}, {"FROM"}, {"INTO"}, {"APPLIED"}, {"WHERE"}, {"TITLE"}});
  for (const documents::GroupRule& rule : reply.rules) {
    table.add({fmt::format("{}", rule.number),
               harmless(rule.kind),
               harmless(rule.from),
               harmless(rule.into),
               rule.applied ? "yes" : "not yet",
               harmless(rule.filter),
               harmless(rule.title)});
  }
  if (table.empty()) {
    session.terminal().err << "no group rules\n";
  } else {
    session.terminal().out << table.text(session.terminal());
  }
}

Answer<void> send_rule(Session& session, std::string_view method, const std::string& path,
                       std::string body = {}) {
  const auto reply =
      TRY(session.service.manage<documents::GroupRules>(method, path, std::move(body)));
  print_rules(session, *reply);
  return {};
}

Answer<void> run_merge(const GroupRuleOptions& options, Session& session) {
  std::string body = TRY(request_body(documents::GroupMerge{.into = options.into}));
  return send_rule(session, "POST", group_path(options, "merge"), std::move(body));
}

Answer<void> run_split(const GroupRuleOptions& options, Session& session) {
  std::string body =
      TRY(request_body(documents::GroupSplit{.filter = options.where, .title = options.title}));
  return send_rule(session, "POST", group_path(options, "split"), std::move(body));
}

Answer<void> run_rules(const GroupRuleOptions& options, Session& session) {
  if (!options.remove) return send_rule(session, "GET", path_of(options, "group-rules"));
  return send_rule(
      session, "DELETE", path_of(options, fmt::format("group-rules/{}", *options.remove)));
}

}  // namespace

void add_dlq_group_rules(Verb parent, Commands& commands) {
  auto options = std::make_shared<GroupRuleOptions>();
  const auto queue = [options] { return options->queue; };
  Verb group = parent.verb("group", "Merge and split failure groups");
  group.needs_a_verb();
  Verb merge = group.verb("merge", "Merge a group into another one, also for later dead letters");
  merge.option("QUEUE", options->queue, "Name, URL or ARN of the dead-letter queue").required();
  merge.option("GROUP", options->group, "Id of the group, or a unique prefix").required();
  merge.option("INTO", options->into, "Id of the group to merge into").required();
  commands.attach(
      merge, [options](Session& session) { return run_merge(*options, session); }, queue);
  Verb split = group.verb("split", "Split the messages that match a filter off into a new group");
  split.option("QUEUE", options->queue, "Name, URL or ARN of the dead-letter queue").required();
  split.option("GROUP", options->group, "Id of the group, or a unique prefix").required();
  split.option("--where", options->where, "Filter that selects the messages to split off")
      .value_name("FILTER")
      .required();
  split.option("--title", options->title, "Title of the new group");
  commands.attach(
      split, [options](Session& session) { return run_split(*options, session); }, queue);
  Verb rules = group.verb("rules", "List the group rules of a queue, or remove one");
  rules.option("QUEUE", options->queue, "Name, URL or ARN of the dead-letter queue").required();
  rules.option("--remove", options->remove, "Number of the rule to remove").range(1, 4'000'000'000);
  commands.attach(
      rules, [options](Session& session) { return run_rules(*options, session); }, queue);
}

}  // namespace redrive::cli
