#include "cli/job_view.h"

#include <fmt/format.h>

#include "cli/progress.h"
#include "cli/queue_document.h"
#include "cli/table.h"

namespace redrive::cli {
namespace {

constexpr Duration kLookEvery{250};

bool stands(std::string_view status) {
  return status != "running";
}

std::string outcome_of(const documents::Job& job) {
  std::string text = fmt::format("{} moved of {}", job.moved, job.to_move);
  text += fmt::format(
      ": {} processed, {} failed again, {} open", job.succeeded, job.failed_again, job.open);
  if (job.gone > 0) text += fmt::format(", {} gone", job.gone);
  return text;
}

std::string stages_of(const documents::Job& job) {
  std::string text;
  for (std::size_t i = 0; i < job.canary.size(); ++i) {
    const bool passed = static_cast<std::int64_t>(i) < job.stage;
    text += fmt::format("{}{}{}", i == 0 ? "" : " → ", job.canary[i], passed ? " passed" : "");
  }
  return text + " → all";
}

}  // namespace

std::string job_status(const Terminal& terminal, const documents::Job& job) {
  const Color color = job.status == "completed"                             ? Color::green
                      : job.status == "halted" || job.status == "failed"    ? Color::red
                      : job.status == "paused" || job.status == "cancelled" ? Color::yellow
                                                                            : Color::cyan;
  return paint(terminal, color, harmless(job.status));
}

std::string readable_job(const Terminal& terminal, const documents::Job& job) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](std::string name, std::string_view value) {
    if (!value.empty()) lines.emplace_back(std::move(name), harmless(value));
  };
  lines.emplace_back("status", job_status(terminal, job));
  add("why", job.note);
  add("queue", job.queue);
  add("to", job.destination.empty() ? "the queues they came from" : job.destination);
  add("messages", outcome_of(job));
  if (!job.canary.empty()) add("canary", stages_of(job));
  if (job.max_failure_percent < 100)
    add("halts above", fmt::format("{} % failed again", job.max_failure_percent));
  add("group", job.group);
  add("filter", job.filter);
  add("patch", job.patch);
  if (job.rate) add("rate", fmt::format("{} a second", *job.rate));
  if (job.limit) add("limit", fmt::format("{}", *job.limit));
  add("name", job.name);
  add("reason", job.reason);
  add("by", job.actor);
  add("started", job.started_at);
  add("ended", job.ended_at.value_or(""));
  return paint(terminal, Color::bold, harmless(job.id)) + "\n" +
         name_value_lines(terminal, lines, 2);
}

Answer<void> follow_job(Session& session, const std::string& id) {
  std::optional<Progress> progress;
  session.world.interrupt.watch();
  while (true) {
    const auto job = TRY(session.service.manage<documents::Job>("GET", "jobs/" + id));
    if (!progress) {
      progress.emplace(session.terminal(),
                       session.world.clock,
                       static_cast<std::uint64_t>(job->limit.value_or(job->to_move)));
    }
    progress->update(static_cast<std::uint64_t>(job->moved));
    const bool stopped = session.world.interrupt.requested();
    if (stands(job->status) || stopped) {
      progress->clear();
      if (session.json) {
        session.terminal().out << json_line(*job);
      } else {
        session.terminal().out << readable_job(session.terminal(), *job);
        if (stopped && !stands(job->status))
          session.terminal().err << "the job goes on; redrive job cancel ends it\n";
      }
      if (job->status == "halted" || job->status == "failed") {
        return std::unexpected(Failure{
            .code = "JobNotCompleted",
            .message = fmt::format(
                "the job {}: {}", job->status == "halted" ? "halted" : "failed", job->note)});
      }
      return {};
    }
    session.world.sleep(kLookEvery);
  }
}

}  // namespace redrive::cli
