#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"
#include "manage/documents/alarms.h"

// redrive alarm: alarms, their targets, and the delivery of notices.

namespace redrive::cli {
namespace {

constexpr Duration kTargetLook{200};
constexpr int kTargetLooks = 75;  // Fifteen seconds.
constexpr std::string_view kTestNotice = "ALARM: test";

struct AlarmAddOptions {
  std::string name;
  std::string queue;
  std::string metric = "ApproximateNumberOfMessagesVisible";
  double above = 0;
  std::optional<std::int64_t> period;
  std::optional<std::int64_t> periods;
  std::optional<std::string> statistic;
  std::vector<std::string> notify;
};

// "2 delivered, 1 failing": the states of the latest notices to the alarm's targets.
std::string notices_of(const documents::AlarmLine& line) {
  std::map<std::string_view, int> counts;
  for (const documents::AlarmTarget& target : line.targets) ++counts[target.state];
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) parts.push_back(fmt::format("{} {}", count, state));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string trouble_of(const documents::AlarmTarget& target) {
  if (target.state == "unreachable") return fmt::format("cannot be notified: {}", target.error);
  if (target.state == "given-up") return fmt::format("was not notified: {}", target.error);
  return fmt::format("{} (attempt {}, next attempt at {})",
                     target.error,
                     target.attempts.value_or(0),
                     target.next_try.substr(0, 19));
}

// Prints targets that were not reached, each once: the server's own targets belong to many alarms.
void print_troubles(Session& session, const documents::AlarmList& list) {
  std::set<std::string> seen;
  for (const documents::AlarmLine& line : list.alarms) {
    for (const documents::AlarmTarget& target : line.targets) {
      const bool trouble =
          target.state == "unreachable" || target.state == "given-up" || target.state == "failing";
      if (!trouble || !seen.insert(std::string(target.target)).second) continue;
      session.terminal().err << harmless(target.target) << ": " << harmless(trouble_of(target))
                             << "\n";
    }
  }
}

void print_alarms(Session& session, const documents::AlarmList& list) {
  if (session.json) {
    for (const documents::AlarmLine& line : list.alarms) session.terminal().out << json_line(line);
    return;
  }
  Table table({{"STATE"}, {"NAME"}, {"ON"}, {"SINCE"}, {"NOTIFICATIONS"}, {"REASON"}});
  for (const documents::AlarmLine& line : list.alarms) {
    table.add({harmless(line.state),
               harmless(line.name),
               line.on ? "yes" : "no",
               harmless(line.since.substr(0, 19)),
               harmless(notices_of(line)),
               harmless(line.reason)});
  }
  if (table.empty()) {
    session.terminal().err << "no alarms\n";
  } else {
    session.terminal().out << table.text(session.terminal());
    print_troubles(session, list);
  }
}

std::string alarm_path(const std::string& name, std::string_view rest = {}) {
  return fmt::format("alarms/{}{}", percent_encode(name, false), rest);
}

Answer<void> run_alarm_list(Session& session) {
  print_alarms(session, *TRY(session.service.manage<documents::AlarmList>("GET", "alarms")));
  return {};
}

Answer<void> run_alarm_add(const AlarmAddOptions& options, Session& session) {
  const std::string queue(queue_name_of(options.queue));
  documents::NewAlarm alarm{.name = options.name,
                            .queue = queue,
                            .metric = options.metric,
                            .statistic = options.statistic,
                            .comparison = ">",
                            .threshold = options.above,
                            .period_seconds = std::nullopt,
                            .periods = std::nullopt,
                            .notify = {options.notify.begin(), options.notify.end()}};
  if (options.period) alarm.period_seconds = static_cast<std::int32_t>(*options.period);
  if (options.periods) alarm.periods = static_cast<std::int32_t>(*options.periods);
  std::string body = TRY(request_body(alarm));
  const auto list =
      TRY(session.service.manage<documents::AlarmList>("POST", "alarms", std::move(body)));
  print_alarms(session, *list);
  return {};
}

Answer<void> run_alarm_remove(const std::string& name, Session& session) {
  const auto list = TRY(session.service.manage<documents::AlarmList>("DELETE", alarm_path(name)));
  print_alarms(session, *list);
  return {};
}

Answer<void> run_alarm_history(const std::string& name, Session& session) {
  const auto history =
      TRY(session.service.manage<documents::AlarmEvents>("GET", alarm_path(name, "/history")));
  Table table({{"TIME"}, {"EVENT"}, {""}});
  for (const documents::AlarmEvent& event : history->events) {
    if (session.json) {
      session.terminal().out << json_line(event);
    } else {
      table.add(
          {harmless(event.time.substr(0, 19)), harmless(event.kind), harmless(event.summary)});
    }
  }
  if (!session.json) session.terminal().out << table.text(session.terminal());
  return {};
}

Answer<void> run_alarm_switch(const std::string& queue, bool on, Session& session) {
  std::string body;
  wire::encode_json(body, documents::AlarmSwitch{on});
  const std::string path =
      fmt::format("queues/{}/alarm", percent_encode(queue_name_of(queue), false));
  print_alarms(session, *TRY(session.service.manage<documents::AlarmList>("PUT", path, body)));
  return {};
}

// Waits until every target has accepted the notice or failed once.
Answer<void> run_alarm_test(Session& session) {
  TRY(session.service.manage<documents::AlarmTargets>("POST", "alarms/test", "{}"));
  for (int look = 0;; ++look) {
    const auto list = TRY(session.service.manage<documents::AlarmTargets>("GET", "alarms/targets"));
    std::vector<documents::AlarmTarget> tested;
    std::ranges::copy_if(list->targets, std::back_inserter(tested), [](const auto& target) {
      return target.notice == kTestNotice;
    });
    const bool open = std::ranges::any_of(tested, [](const documents::AlarmTarget& target) {
      return target.waiting && target.error.empty();
    });
    if (open && look < kTargetLooks) {
      session.world.sleep(kTargetLook);
      continue;
    }
    bool failed = false;
    for (const documents::AlarmTarget& target : tested) {
      const bool arrived = target.state == "delivered";
      failed = failed || !arrived;
      session.terminal().out << harmless(target.target) << ": "
                             << (arrived ? fmt::format("notified, {}", harmless(target.status))
                                 : target.error.empty() ? "no response yet"
                                                        : harmless(target.error))
                             << "\n";
    }
    if (tested.empty()) {
      return usage_failure("no targets: redrive.toml has none under [alarms] notify");
    }
    if (failed) {
      return std::unexpected(
          Failure{Failure::Kind::refused, "", "not all targets could be notified"});
    }
    return {};
  }
}

}  // namespace

void add_alarm(Verb parent, Commands& commands) {
  commands.attach(parent.verb("ls", "List alarms and their deliveries"),
                  [](Session& session) { return run_alarm_list(session); });
  auto add = std::make_shared<AlarmAddOptions>();
  Verb adds = parent.verb("add", "Create an alarm on a metric of a queue");
  adds.option("NAME", add->name, "Name of the alarm").required();
  adds.option("--queue", add->queue, "Queue name, URL or ARN").required();
  adds.option("--metric", add->metric, "CloudWatch's name of the metric").shows_default();
  adds.option("--above", add->above, "Fires when the metric is above this value").shows_default();
  adds.option(
          "--period", add->period, "Period in seconds: 10, 20, 30 or a multiple of 60 (default 60)")
      .range(10, 86'400);
  adds.option("--periods", add->periods, "Consecutive periods above the threshold (default 1)")
      .range(1, 8'640);
  adds.option("--statistic", add->statistic, "Statistic: Maximum, Sum, Average, p90, ...");
  adds.option("--notify", add->notify, "Target: ARN of a queue or function, or a webhook URL")
      .one_at_a_time();
  commands.attach(
      adds,
      [add](Session& session) { return run_alarm_add(*add, session); },
      [add] { return add->queue; });
  auto name = std::make_shared<std::string>();
  Verb removes = parent.verb("rm", "Remove a metric alarm");
  removes.option("NAME", *name, "Name of the alarm").required();
  commands.attach(removes, [name](Session& session) { return run_alarm_remove(*name, session); });
  Verb tells = parent.verb("history", "Show the state changes and deliveries of an alarm");
  tells.option("NAME", *name, "Name of the alarm, such as \"dead letters in orders-dlq\"")
      .required();
  commands.attach(tells, [name](Session& session) { return run_alarm_history(*name, session); });
  Verb tests = parent.verb("test", "Send a test notification to every target in redrive.toml");
  commands.attach(tests, [](Session& session) { return run_alarm_test(session); });
  auto queue = std::make_shared<std::string>();
  for (const bool on : {true, false}) {
    Verb switches = parent.verb(on ? "on" : "off",
                                on ? "Switch the alarm of a dead-letter queue on"
                                   : "Switch the alarm of a dead-letter queue off");
    switches.option("QUEUE", *queue, "Queue name, URL or ARN").required();
    commands.attach(
        switches,
        [queue, on](Session& session) { return run_alarm_switch(*queue, on, session); },
        [queue] { return *queue; });
  }
}

}  // namespace redrive::cli
