#include <fmt/format.h>

#include "cli/client/job_view.h"
#include "cli/client/queue_document.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"

// redrive job ls|show|pause|resume|rate|cancel|watch: redrive jobs of a server.

namespace redrive::cli {
namespace {

struct JobOptions {
  std::string id;
  std::int64_t rate = 0;
  bool until_settled = false;
  std::int64_t timeout = 0;
};

// The given job, or else the latest.
Answer<std::string> job_to_watch(Session& session, const std::string& named) {
  if (!named.empty()) return named;
  const auto reply = TRY(session.service.manage<documents::Jobs>("GET", "jobs"));
  if (!reply->jobs.empty()) return std::string(reply->jobs.front().id);
  return std::unexpected(Failure{.kind = Failure::Kind::refused, .code = "", .message = "no jobs"});
}

Answer<void> run_watch(Session& session, const JobOptions& options) {
  return follow_job(
      session,
      TRY(job_to_watch(session, options.id)),
      {.settled = options.until_settled, .timeout = std::chrono::seconds(options.timeout)});
}

Answer<void> run_job_list(Session& session) {
  const auto reply = TRY(session.service.manage<documents::Jobs>("GET", "jobs"));
  if (session.json) {
    for (const documents::Job& job : reply->jobs) session.terminal().out << json_line(job);
    return {};
  }
  using enum Table::Align;
  Table table({{"JOB"},
               {"QUEUE"},
               {"STATUS"},
               {"MOVED", right},
               {"OF", right},
               {"PROCESSED", right},
               {"FAILED AGAIN", right},
               {"STARTED"},
               {"NAME"}});
  for (const documents::Job& job : reply->jobs) {
    table.add({harmless(job.id),
               harmless(job.queue),
               harmless(job.status),
               fmt::format("{}", job.moved),
               fmt::format("{}", job.to_move),
               fmt::format("{}", job.succeeded),
               fmt::format("{}", job.failed_again),
               harmless(job.started_at),
               harmless(job.name)});
  }
  if (table.empty()) {
    session.terminal().err << "no jobs\n";
  } else {
    session.terminal().out << table.text(session.terminal());
  }
  return {};
}

Answer<void> run_job(Session& session, std::string_view method, const std::string& path,
                     std::string body = {}) {
  const auto job = TRY(session.service.manage<documents::Job>(method, path, std::move(body)));
  session.terminal().out << (session.json ? json_line(*job)
                                          : readable_job(session.terminal(), *job));
  return {};
}

}  // namespace

void add_job(Verb parent, Commands& commands) {
  auto options = std::make_shared<JobOptions>();
  commands.attach(parent.verb("ls", "List redrive jobs, newest first"),
                  [](Session& session) { return run_job_list(session); });
  const auto add = [&](const std::string& name, const std::string& help, Commands::Run run) {
    Verb verb = parent.verb(name, help);
    verb.option("JOB", options->id, "Id of the job, or a unique prefix").required();
    commands.attach(verb, std::move(run));
    return verb;
  };
  add("show", "Show a job and the outcome of its messages", [options](Session& session) {
    return run_job(session, "GET", "jobs/" + options->id);
  });
  for (const std::string action : {"pause", "resume", "cancel"}) {
    const std::string help = action == "pause"    ? "Pause a job"
                             : action == "resume" ? "Resume a paused or halted job"
                                                  : "Cancel a job; moved messages stay moved";
    add(action, help, [options, action](Session& session) {
      return run_job(session, "POST", fmt::format("jobs/{}/{}", options->id, action));
    });
  }
  Verb rate = add("rate", "Change the rate of a job", [options](Session& session) {
    return run_job(session,
                   "POST",
                   fmt::format("jobs/{}/rate", options->id),
                   fmt::format(R"({{"rate":{}}})", options->rate));
  });
  rate.option("RATE", options->rate, "Messages per second; 0: no limit")
      .required()
      .range(0, 1'000'000);
  Verb watch = parent.verb("watch", "Follow a job until it ends or halts");
  watch.option("JOB", options->id, "Id of the job, or a unique prefix (default: the newest)");
  const Option settled = watch.flag("--until-settled",
                                    options->until_settled,
                                    "Wait for the outcome of all messages; exit code 0 if all were "
                                    "processed, 1 if some were not, 3 if some are still open");
  watch
      .option(
          "--timeout", options->timeout, "Stop waiting after this many seconds (default: never)")
      .range(1, 31'536'000)
      .needs(settled);
  commands.attach(watch, [options](Session& session) { return run_watch(session, *options); });
}

}  // namespace redrive::cli
