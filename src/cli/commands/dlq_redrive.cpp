#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/job_view.h"
#include "cli/client/message_pages.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "manage/documents/jobs.h"

// redrive dlq redrive: moves dead letters back to their source.

namespace redrive::cli {
namespace {

struct DlqRedriveOptions {
  std::string queue;
  std::vector<std::string> groups;
  std::string filter;
  std::vector<std::string> ids;
  std::string to;
  std::optional<std::int64_t> rate;
  std::optional<std::int64_t> limit;
  std::vector<std::string> canary;
  bool careful = false;
  std::optional<std::int64_t> failure_percent_max;
  std::optional<std::int64_t> watch_seconds;
  std::string name;
  std::string reason;
  std::string patch;
  bool dry_run = false;
  bool no_wait = false;
  bool until_settled = false;
};

Answer<std::vector<std::int64_t>> stages_of(const DlqRedriveOptions& options) {
  std::vector<std::int64_t> stages;
  if (options.careful) stages = {1, 10, 100};
  for (const std::string& text : options.canary) {
    const auto stage = parse_int<std::int64_t>(text);
    if (!stage) return usage_failure("--stages takes increasing numbers, such as 1,10,100");
    stages.push_back(*stage);
  }
  return stages;
}

Answer<std::string> request_of(const DlqRedriveOptions& options) {
  documents::JobRequest request{.name = options.name,
                                .reason = options.reason,
                                .filter = options.filter,
                                .destination = options.to,
                                .patch = options.patch,
                                .rate = options.rate,
                                .limit = options.limit,
                                .canary = TRY(stages_of(options)),
                                .max_failure_percent = options.failure_percent_max,
                                .watch_seconds = options.watch_seconds,
                                .dry_run = options.dry_run};
  request.message_ids.assign(options.ids.begin(), options.ids.end());
  if (options.groups.size() == 1) {
    request.group = options.groups.front();
  } else {
    request.groups.assign(options.groups.begin(), options.groups.end());
  }
  std::string body = TRY(request_body(request));
  return body;
}

Answer<void> run_dlq_redrive(const DlqRedriveOptions& options, Session& session) {
  const std::string name = percent_encode(queue_name_of(options.queue), false);
  DlqRedriveOptions wanted = options;
  for (std::string& id : wanted.ids) id = TRY(whole_message_id(session, options.queue, id));
  std::string request = TRY(request_of(wanted));
  const auto started = TRY(session.service.manage<documents::JobStarted>(
      "POST", fmt::format("queues/{}/jobs", name), std::move(request)));
  if (started->dry_run) {
    const documents::Selection& found = *started->dry_run;
    if (session.json) {
      session.terminal().out << json_line(found);
      return {};
    }
    session.terminal().out << fmt::format(
        "{} of {} messages would be redriven{}\n",
        found.matched,
        found.candidates,
        found.scanned < found.candidates ? fmt::format(" ({} examined)", found.scanned) : "");
    if (!found.sample.empty()) {
      session.terminal().out << fmt::format("for example {}\n", fmt::join(found.sample, ", "));
    }
    return {};
  }
  if (!started->job) return unreadable_answer("the response contains neither a job nor a dry run");
  if (!options.no_wait) {
    return follow_job(session, std::string(started->job->id), {.settled = options.until_settled});
  }
  session.terminal().out << (session.json ? json_line(*started->job)
                                          : readable_job(session.terminal(), *started->job));
  return {};
}

}  // namespace

void add_dlq_redrive(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqRedriveOptions>();
  Verb verb = parent.verb("redrive", "Redrive dead letters to their source queues");
  verb.option("QUEUE", options->queue, "Name, URL or ARN of the dead-letter queue").required();
  verb.option(
          "--group", options->groups, "Only messages of this failure group, by id or unique prefix")
      .one_at_a_time();
  verb.option("--filter", options->filter, "Only messages that match a filter");
  verb.option("--id", options->ids, "Only the message with this MessageId, or unique prefix")
      .one_at_a_time();
  verb.option("--to", options->to, "Redrive to this queue instead, by name or ARN");
  verb.option("--rate", options->rate, "Maximum messages per second").range(1, 1'000'000);
  verb.option("--limit", options->limit, "Maximum number of messages").range(1, 1'000'000'000'000);
  const Option careful = verb.flag(
      "--canary", options->careful, "Redrive 1, then 10, then 100, then all, checking each stage");
  verb.option("--stages", options->canary, "Canary with other stages, such as 5,50")
      .comma_separated()
      .excludes(careful);
  verb.option("--max-failure-percent",
              options->failure_percent_max,
              "Halt when more than this percentage fails again (default 50, canary 10)")
      .range(0, 100);
  verb.option("--watch-seconds",
              options->watch_seconds,
              "How long to wait for the outcome of a stage (default 300)")
      .range(1, 604'800);
  verb.option("--patch", options->patch, "JSON Patch to apply to the bodies").value_name("JSON");
  verb.option("--name", options->name, "Name of the job");
  verb.option("--reason", options->reason, "Reason, recorded in each message's history");
  verb.flag("--dry-run", options->dry_run, "Only show what would be redriven");
  const Option no_wait = verb.flag("--no-wait", options->no_wait, "Start the job and exit");
  verb.flag("--until-settled",
            options->until_settled,
            "Wait for the outcome of all messages; exit code as in job watch")
      .excludes(no_wait);
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_redrive(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
