#include "cli/worker/worker.h"

#include <fmt/format.h>

#include <thread>

#include "base/text.h"
#include "cli/client/archive_place.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/client/receiver.h"
#include "cli/worker/worker_lane.h"
#include "manage/documents/moves.h"

// redrive worker: drains a dead-letter queue. Messages go back to their source with a retry counter
// until it is exhausted, and then into the archive.

namespace redrive::cli {
namespace {

struct WorkerOptions {
  std::string dlq;
  std::string source;
  ArchivePlace archive;
  std::int64_t max_retries = 2;
  std::int32_t backoff = 0;
  std::uint32_t concurrency = 4;
  std::optional<double> rate;
  std::string filter;
  std::uint64_t max_messages = 0;
  bool once = false;
  bool daemon = false;
  std::int32_t every = 0;
  bool dry_run = false;
  bool no_atomic = false;
  std::int32_t visibility = 120;
};

struct WorkerSummary {
  std::int64_t returned = 0;
  std::int64_t archived = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t not_deleted = 0;
  std::int64_t unreadable_counters = 0;
  std::int64_t counters_in_trace = 0;
};
consteval auto shape_of(WorkerSummary*) {
  using Summary = WorkerSummary;
  return wire::shape(wire::required("Returned", &Summary::returned),
                     wire::required("Archived", &Summary::archived),
                     wire::required("Skipped", &Summary::skipped),
                     wire::required("Failed", &Summary::failed),
                     wire::required("NotDeleted", &Summary::not_deleted),
                     wire::required("UnreadableCounters", &Summary::unreadable_counters),
                     wire::required("CountersInTraceHeader", &Summary::counters_in_trace));
}

// Without --source: the queue with this one in its redrive policy, if there is exactly one.
Answer<std::string> find_source(Session& session, const WorkerOptions& options,
                                const std::string& dlq_url) {
  if (!options.source.empty()) return find_queue_url(session.service, options.source);
  const auto sources =
      TRY(session.service.call<sqs::ListDeadLetterSourceQueues>({.queue_url = dlq_url}));
  if (sources->queue_urls.size() == 1) return std::string(sources->queue_urls.front());
  return usage_failure(fmt::format("{} queues use {} as their dead-letter queue: pass --source",
                                   sources->queue_urls.size(),
                                   queue_name_of(dlq_url)));
}

std::optional<std::uint64_t> count_of(Session& session, const std::string& url) {
  const auto reply = session.service.call<sqs::GetQueueAttributes>(
      {.queue_url = url, .attribute_names = {"ApproximateNumberOfMessages"}});
  if (!reply) return std::nullopt;
  return parse_int<std::uint64_t>(
      attribute_of((*reply)->attributes, "ApproximateNumberOfMessages"));
}

std::optional<std::string> arn_of(Session& session, const std::string& url) {
  const auto reply = session.service.call<sqs::GetQueueAttributes>(
      {.queue_url = url, .attribute_names = {"QueueArn"}});
  if (!reply) return std::nullopt;
  return std::string(attribute_of((*reply)->attributes, "QueueArn"));
}

// Whether the server supports moves, tested by moving nothing.
std::optional<AtomicMoves> find_atomic_moves(Session& session, const WorkerTask& task) {
  const auto dlq = arn_of(session, task.dlq_url);
  const auto source = arn_of(session, task.source_url);
  if (!dlq || !source || is_fifo_name(*dlq) != is_fifo_name(*source)) return std::nullopt;
  AtomicMoves moves{.queue_path = fmt::format("queues/{}", *dlq), .destination_arn = *source};
  const auto none = session.service.manage<documents::MoveResults>(
      "POST", moves.path("moves"), R"({"moves": []})");
  if (!none) return std::nullopt;
  return moves;
}

Answer<WorkerTask> plan_task(Session& session, const WorkerOptions& options) {
  WorkerTask task;
  task.dlq_url = TRY(find_queue_url(session.service, options.dlq));
  task.source_url = TRY(find_source(session, options, task.dlq_url));
  task.rules = {.retries_max = options.max_retries, .backoff_seconds = options.backoff};
  if (!options.filter.empty()) {
    auto filter = triage::Filter::parse(options.filter);
    if (!filter) return usage_failure(filter.error().message);
    task.filter = *std::move(filter);
  }
  if (options.max_messages > 0) task.messages_max = options.max_messages;
  task.dry_run = options.dry_run;
  task.until_empty = !options.daemon;
  task.wait_seconds = options.daemon ? 5 : 1;
  task.visibility_seconds = options.visibility;
  if (task.dlq_url == task.source_url) {
    return usage_failure("--dlq and --source are the same queue");
  }
  if (!options.no_atomic && !options.dry_run) task.atomic = find_atomic_moves(session, task);
  return task;
}

class Worker {
 public:
  Worker(Session& session, const WorkerOptions& options, WorkerTask task)
      : session_(session),
        options_(options),
        task_(std::move(task)),
        pace_(options.rate, session.world.clock) {}

  // One pass over the queue.
  Answer<void> run() {
    WorkerBoard board(session_, task_, expected());
    std::vector<Answer<void>> outcomes(lanes());
    const auto done = run_lanes(board, outcomes);
    const auto released = Receiver(session_, task_.dlq_url).release(board.take_held());
    const WorkerCounts counts = board.finish();
    report_counts(counts);
    RETURN_IF_ERROR(done);
    for (const auto& outcome : outcomes) RETURN_IF_ERROR(outcome);
    RETURN_IF_ERROR(released);
    if (counts.failed + counts.not_deleted == 0) return {};
    return std::unexpected(Failure{Failure::Kind::reported, "", ""});
  }

 private:
  // A FIFO queue needs one lane to preserve the order.
  std::size_t lanes() const {
    return is_fifo_name(queue_name_of(task_.dlq_url)) ? 1 : options_.concurrency;
  }

  std::optional<std::uint64_t> expected() {
    if (!session_.terminal().err_is_terminal || !task_.until_empty) return std::nullopt;
    return count_of(session_, task_.dlq_url);
  }

  Answer<void> run_lanes(WorkerBoard& board, std::vector<Answer<void>>& outcomes) {
    World& world = session_.world;
    std::vector<OpenArchive> archives(outcomes.size());
    std::vector<std::unique_ptr<WorkerLane>> workers;
    for (OpenArchive& archive : archives) {
      if (!task_.dry_run) archive = TRY(open_archive(options_.archive, session_));
      workers.push_back(std::make_unique<WorkerLane>(
          WorkerLane::Parts{.session = session_,
                            .task = task_,
                            .board = board,
                            .pace = pace_,
                            .service = Service(session_.endpoint, world.connect(), world.clock),
                            .target = archive.target.get(),
                            .prefix = archive.prefix,
                            .location = archive.location,
                            .seed = world.ids.bits()}));
    }
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      threads.emplace_back([&, i] { outcomes[i] = workers[i]->run(); });
    }
    return {};
  }

  void report_counts(const WorkerCounts& counts) {
    Terminal& terminal = session_.terminal();
    if (session_.json) {
      const auto number = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
      terminal.out << json_line(
          WorkerSummary{.returned = number(counts.returned),
                        .archived = number(counts.archived),
                        .skipped = number(counts.skipped),
                        .failed = number(counts.failed),
                        .not_deleted = number(counts.not_deleted),
                        .unreadable_counters = number(counts.unreadable_counters),
                        .counters_in_trace = number(counts.counters_in_trace)});
      terminal.out.flush();
      return;
    }
    terminal.out << fmt::format("{}{} returned to {}, {} archived",
                                task_.dry_run ? "dry run: " : "",
                                counts.returned,
                                queue_name_of(task_.source_url),
                                counts.archived);
    const auto also = [&](std::uint64_t count, std::string_view what) {
      if (count > 0) terminal.out << fmt::format(", {} {}", count, what);
    };
    also(counts.skipped, "left because they do not match the filter");
    also(counts.failed, "left because of errors");
    also(counts.not_deleted, "copied but not deleted, so they will be delivered twice");
    also(counts.unreadable_counters, "with a retryCount that is not a number");
    also(counts.counters_in_trace, "without space for retryCount: counted in the trace header");
    terminal.out << "\n";
    terminal.out.flush();
  }

  Session& session_;
  const WorkerOptions& options_;
  const WorkerTask task_;
  Pace pace_;
};

// Sleeps in slices, so that a signal is noticed quickly.
void pause_worker(World& world, std::int32_t seconds) {
  constexpr Duration kSlice{200};
  const Timestamp until = world.clock.steady() + std::chrono::seconds(seconds);
  while (!world.interrupt.requested() && world.clock.steady() < until) world.sleep(kSlice);
}

Answer<void> run_worker(Session& session, const WorkerOptions& options) {
  if (options.archive.location.empty() && !options.dry_run) {
    return usage_failure("--archive is required: s3://bucket/prefix or file:///directory");
  }
  // Check the archive before receiving anything.
  if (!options.dry_run) RETURN_IF_ERROR(open_archive(options.archive, session));
  Worker worker(session, options, TRY(plan_task(session, options)));
  session.world.interrupt.watch();
  while (true) {
    const auto done = worker.run();
    if (options.every == 0 || session.world.interrupt.requested()) return done;
    if (!done && !worth_retrying(done.error())) return done;
    pause_worker(session.world, options.every);
    if (session.world.interrupt.requested()) return {};
  }
}

}  // namespace

void add_worker(Verb parent, Commands& commands) {
  auto options = std::make_shared<WorkerOptions>();
  Verb verb = parent.verb("worker", "Drain a dead-letter queue: retry messages, then archive them");
  verb.option("--dlq", options->dlq, "Name, URL or ARN of the dead-letter queue").required();
  verb.option("--source",
              options->source,
              "Queue that messages return to (default: its only source queue)");
  verb.option(
      "--archive", options->archive.location, "Archive: s3://bucket/prefix or file:///directory");
  verb.option("--max-retries",
              options->max_retries,
              "Archive messages whose retryCount is above this (default 2)")
      .range(0, 1'000'000);
  verb.option("--backoff",
              options->backoff,
              "Delay returned messages by this many seconds, doubled each time")
      .range(0, 900);
  auto once = verb.flag("--once", options->once, "Run until the queue is empty (default)");
  auto daemon = verb.flag("--daemon", options->daemon, "Run until stopped").excludes(once);
  verb.option("--every", options->every, "Run at this interval in seconds until stopped")
      .range(1, 86'400)
      .excludes(once)
      .excludes(daemon);
  verb.option("--rate", options->rate, "Maximum messages per second").positive();
  verb.option("--concurrency", options->concurrency, "Number of connections (default 4; FIFO: 1)")
      .range(1, 64);
  verb.option(
      "--filter", options->filter, "Only matching messages, such as 'attribute.kind == \"order\"'");
  verb.option("--max-messages", options->max_messages, "Stop after this many messages")
      .range(1, 1'000'000'000);
  verb.option("--visibility", options->visibility, "Visibility timeout in seconds (default 120)")
      .range(10, 43'200);
  verb.flag("--dry-run", options->dry_run, "Only show what would be done; counts as a receive");
  verb.flag("--no-atomic",
            options->no_atomic,
            "Copy and delete, even if the server supports atomic moves");
  add_archive_place_options(verb, options->archive);
  commands.attach(
      verb,
      [options](Session& session) { return run_worker(session, *options); },
      [options] { return options->dlq; });
}

}  // namespace redrive::cli
