#include "cli/client/job_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/client/queue_document.h"
#include "cli/term/table.h"

namespace redrive::cli {
namespace {

constexpr Duration kLookEvery{250};
constexpr Duration kRateOver{10'000};
constexpr int kExitFailedAgain = 1;
constexpr int kExitOpen = 3;

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
  add("to", job.destination.empty() ? "their source queues" : job.destination);
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

void JobRate::note(Timestamp at, std::int64_t moved) {
  looks_.emplace_back(at, moved);
  while (looks_.size() > 2 && at - looks_[1].first >= kRateOver) looks_.erase(looks_.begin());
}

double JobRate::per_second() const {
  if (looks_.size() < 2) return 0;
  const auto& [since, before] = looks_.front();
  const auto& [now, moved] = looks_.back();
  const std::int64_t ms = (now - since).count();
  return ms <= 0 ? 0 : static_cast<double>(moved - before) * 1000 / static_cast<double>(ms);
}

std::string progress_line(const documents::Job& job, const JobRate& rate) {
  const std::int64_t goal = job.limit ? std::min(*job.limit, job.to_move) : job.to_move;
  const double per_second = rate.per_second();
  std::string pace = fmt::format("{:.0f}/s", per_second);
  if (per_second > 0 && goal > job.moved) {
    pace += fmt::format(", {:.0f} s left", static_cast<double>(goal - job.moved) / per_second);
  }
  return fmt::format("{} of {} moved ({}): {} processed, {} failed again, {} open",
                     job.moved,
                     goal,
                     pace,
                     job.succeeded,
                     job.failed_again,
                     job.open);
}

namespace {

// A job's status line, redrawn in place.
class JobLine {
 public:
  explicit JobLine(Session& session) : session_(session) {}

  void show(const documents::Job& job) {
    rate_.note(session_.world.clock.steady(), job.moved);
    if (!session_.terminal().err_is_terminal) return;
    session_.terminal().err << "\r\x1b[K" << progress_line(job, rate_) << std::flush;
    on_screen_ = true;
  }
  void clear() {
    if (on_screen_) session_.terminal().err << "\r\x1b[K" << std::flush;
    on_screen_ = false;
  }

 private:
  Session& session_;
  JobRate rate_;
  bool on_screen_ = false;
};

void print_end(Session& session, const documents::Job& job, bool stopped) {
  if (session.json) {
    session.terminal().out << json_line(job);
    return;
  }
  session.terminal().out << readable_job(session.terminal(), job);
  if (stopped && !stands(job.status)) {
    session.terminal().err << "the job continues; stop it with: redrive job cancel\n";
  }
}

// Maps a job's result to the exit code.
Answer<void> verdict_of(const documents::Job& job, const FollowOptions& options) {
  const bool lost = job.failed_again > 0 || job.gone > 0;
  const bool open = job.open > 0 || !stands(job.status);
  if (options.settled && open && !lost) {
    return std::unexpected(Failure{
        .kind = Failure::Kind::reported, .code = "", .message = "", .exit_code = kExitOpen});
  }
  if (job.status == "halted" || job.status == "failed") {
    return std::unexpected(Failure{
        .kind = Failure::Kind::refused,
        .code = "JobNotCompleted",
        .message =
            fmt::format("the job {}: {}", job.status == "halted" ? "halted" : "failed", job.note)});
  }
  if (!options.settled || !lost) return {};
  return std::unexpected(Failure{
      .kind = Failure::Kind::reported, .code = "", .message = "", .exit_code = kExitFailedAgain});
}

}  // namespace

Answer<void> follow_job(Session& session, const std::string& id, FollowOptions options) {
  JobLine line(session);
  const Timestamp began = session.world.clock.steady();
  session.world.interrupt.watch();
  while (true) {
    const auto job =
        TRY(session.service.manage<documents::Job>("GET", "jobs/" + percent_encode(id, false)));
    line.show(*job);
    const bool late =
        options.timeout > Duration(0) && session.world.clock.steady() - began >= options.timeout;
    const bool stopped = session.world.interrupt.requested() || late;
    const bool known = !options.settled || job->open == 0;
    const bool standing = job->status == "halted" || job->status == "paused";
    if ((stands(job->status) && (known || standing)) || stopped) {
      line.clear();
      print_end(session, *job, stopped);
      return verdict_of(*job, options);
    }
    session.world.sleep(kLookEvery);
  }
}

}  // namespace redrive::cli
