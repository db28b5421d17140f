#include "observe/topology/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "observe/topology/shell.h"

namespace redrive::topology {
namespace {

using std::chrono::duration_cast;
using std::chrono::hours;
using std::chrono::seconds;

constexpr Duration kRetentionMax = hours(14 * 24);
constexpr Duration kRetentionUsual = hours(4 * 24);
constexpr Duration kVisibilityShort = seconds(5);
constexpr Duration kExpirySoon = hours(24);
constexpr std::int64_t kReceivesFew = 3;
constexpr std::int64_t kReceivesGood = 5;
constexpr std::int64_t kReceivesMax = 1000;
constexpr std::int64_t kUnreadMany = 1000;
constexpr std::size_t kAllowedSourcesMax = 10;
constexpr int kTimeoutsHidden = 6;  // AWS's recommendation: leaves time to retry throttled runs.
constexpr Duration kVisibilityMax = hours(12);
constexpr std::int64_t kRunsTelling = 10;

std::string days(Duration duration) {
  const auto count = duration_cast<seconds>(duration).count();
  if (count % 86400 == 0) return fmt::format("{} d", count / 86400);
  if (count >= 86400) return fmt::format("{:.1f} d", static_cast<double>(count) / 86400);
  if (count >= 3600) return fmt::format("{:.1f} h", static_cast<double>(count) / 3600);
  return fmt::format("{} s", count);
}

std::string set_attribute(std::string_view queue, std::string_view name, std::string_view value) {
  return shell_command({"redrive", "queue", "set", queue, fmt::format("{}={}", name, value)});
}

std::string set_retention(std::string_view queue, Duration retention) {
  return set_attribute(
      queue, "MessageRetentionPeriod", std::to_string(duration_cast<seconds>(retention).count()));
}

std::string set_target(std::string_view queue, std::string_view arn, std::int64_t receives) {
  const std::string policy =
      fmt::format(R"({{"deadLetterTargetArn":"{}","maxReceiveCount":{}}})", arn, receives);
  return set_attribute(queue, "RedrivePolicy", policy);
}

std::string create_dead_letter_queue(std::string_view name) {
  return shell_command(
      {"redrive",
       "queue",
       "create",
       name,
       "--attribute",
       fmt::format("MessageRetentionPeriod={}", duration_cast<seconds>(kRetentionMax).count())});
}

// orders -> orders-dlq, orders.fifo -> orders-dlq.fifo, in an ARN or alone.
std::string with_dlq_suffix(std::string_view name) {
  constexpr std::string_view kFifo = ".fifo";
  if (!name.ends_with(kFifo)) return fmt::format("{}-dlq", name);
  name.remove_suffix(kFifo.size());
  return fmt::format("{}-dlq{}", name, kFifo);
}

// Examines each queue and collects findings.
class Examination {
 public:
  explicit Examination(const Topology& topology) : topology_(topology) {}

  std::vector<Finding> run() {
    for (const Queue& queue : topology_.queues()) {
      if (queue.target) look_at_source(queue);
      look_at_messages(queue);
      look_for_dead_letter_queue(queue);
      look_for_chains(queue);
      look_for_alarm(queue);
      look_for_damage(queue);
      for (const Handler* handler : topology_.handlers_of(queue.arn)) {
        look_at_handler(queue, *handler);
      }
    }
    look_for_damaged_events();
    look_at_key_files();
    look_at_notices();
    const auto worse = [](const Finding& a, const Finding& b) {
      return a.severity != b.severity ? a.severity > b.severity : a.queue < b.queue;
    };
    std::ranges::stable_sort(findings_, worse);
    return std::move(findings_);
  }

 private:
  void look_for_damage(const Queue& queue) {
    if (queue.damaged == 0) return;
    add(queue,
        {.severity = Severity::problem,
         .rule = "damaged-messages",
         .queue = {},
         .what = fmt::format("{} {} damaged: the stored bytes cannot be read",
                             queue.damaged,
                             queue.damaged == 1 ? "message is" : "messages are"),
         .why =
             "They are set aside and will not be delivered. The disk may be failing. Restore the "
             "files from a backup and use `retry`, or `drop` them; after 14 days they are deleted.",
         .fix = shell_command({"redrive", "queue", "damaged", "ls", queue.name()})});
  }

  void look_for_damaged_events() {
    for (const DamagedEvents& damaged : topology_.damaged_events()) {
      findings_.push_back(
          {.severity = Severity::problem,
           .rule = "damaged-events",
           .queue = {},
           .what = fmt::format("function {}: {} {} damaged: the stored bytes cannot be read",
                               damaged.function,
                               damaged.events,
                               damaged.events == 1 ? "event is" : "events are"),
           .why = "The function will not run for them. The disk may be failing. Restore the files "
                  "from a backup and use `retry`, or `drop` them; after 14 days they are deleted.",
           .fix = shell_command({"redrive", "function", "damaged", "ls", damaged.function})});
    }
  }

  void look_at_key_files() {
    for (const ExposedKeyFile& file : topology_.exposed_key_files()) {
      findings_.push_back(
          {.severity = file.to_others ? Severity::problem : Severity::advice,
           .rule = "exposed-key-file",
           .queue = {},
           .what = fmt::format("{} of {} can read {}, which contains secrets of access keys",
                               file.to_others ? "every user" : "the group",
                               file.to_others ? "the server's machine" : "the file",
                               file.path),
           .why = file.to_others
                      ? "Replace the keys after changing the mode: they may have been copied."
                      : "Keep it so only if the group exists to let the server read the file.",
           .fix = shell_command({"chmod", "600", file.path})});
    }
  }

  // SQS accepts such a policy and ignores it.
  void look_at_own_target(const Queue& queue) {
    add(queue,
        {.severity = Severity::problem,
         .rule = "own-dlq",
         .queue = {},
         .what = "the queue is its own dead-letter queue, so its redrive policy has no effect",
         .why = "A message that always fails is never set aside: it is delivered until it expires.",
         .fix = set_attribute(queue.name(), "RedrivePolicy", "")});
  }

  void look_at_source(const Queue& queue) {
    if (queue.target->arn == queue.arn) return look_at_own_target(queue);
    look_at_counts(queue);
    look_at_visibility(queue);
    if (const Queue* target = topology_.target_of(queue)) {
      look_at_retention(queue, *target);
      look_at_admission(queue, *target);
      look_at_kinds(queue, *target);
    } else if (!topology_.is_unseen(queue.target->arn)) {
      look_at_missing(queue);
    }
  }

  void look_at_retention(const Queue& queue, const Queue& target) {
    if (queue.fifo || target.retention > queue.retention) return;
    const bool longest = queue.retention >= kRetentionMax;
    findings_.push_back(
        {.severity = Severity::problem,
         .rule = "dlq-retention",
         .queue = std::string(queue.name()),
         .what = fmt::format("{} keeps messages for {}, which is not longer than the {} of {}",
                             target.name(),
                             days(target.retention),
                             days(queue.retention),
                             queue.name()),
         .why =
             "A dead letter keeps the time of its first send, so its time in this queue counts "
             "towards its retention in the dead-letter queue: it may expire before it is noticed.",
         .fix = longest ? set_retention(queue.name(), kRetentionUsual)
                        : set_retention(target.name(), kRetentionMax)});
  }

  void look_at_counts(const Queue& queue) {
    if (queue.target->receive_count_max >= kReceivesFew) return;
    findings_.push_back(
        {.severity = Severity::warning,
         .rule = "few-receives",
         .queue = std::string(queue.name()),
         .what = fmt::format("messages become dead letters after {} {}",
                             queue.target->receive_count_max,
                             queue.target->receive_count_max == 1 ? "receive" : "receives"),
         .why = "A deployment, a crash or one slow call can turn good messages into dead letters: "
                "every receive counts, even if the message was not processed.",
         .fix = set_target(queue.name(), queue.target->arn, kReceivesGood)});
  }

  void look_at_visibility(const Queue& queue) {
    if (queue.visibility_timeout >= kVisibilityShort) return;
    const bool none = queue.visibility_timeout == Duration::zero();
    findings_.push_back(
        {.severity = none ? Severity::problem : Severity::warning,
         .rule = "short-visibility",
         .queue = std::string(queue.name()),
         .what = fmt::format("a received message becomes visible again after {} s",
                             duration_cast<seconds>(queue.visibility_timeout).count()),
         .why = "If processing takes longer, the message is delivered again meanwhile, and every "
                "receive counts towards the dead-letter queue.",
         .fix = set_attribute(queue.name(), "VisibilityTimeout", "30")});
  }

  void look_at_missing(const Queue& queue) {
    const std::string_view target = name_of_arn(queue.target->arn);
    findings_.push_back(
        {.severity = Severity::problem,
         .rule = "dlq-missing",
         .queue = std::string(queue.name()),
         .what = fmt::format("its dead-letter queue {} does not exist", target),
         .why = "Failing messages cannot be dead-lettered: they are redelivered until they expire.",
         .fix = create_dead_letter_queue(target)});
  }

  void look_at_admission(const Queue& queue, const Queue& target) {
    if (target.allow.admits(queue.arn)) return;
    findings_.push_back(
        {.severity = Severity::problem,
         .rule = "dlq-refuses",
         .queue = std::string(queue.name()),
         .what = fmt::format("the redrive allow policy of {} does not admit it", target.name()),
         .why = "The next change of this queue's redrive policy will be refused, and redrives back "
                "to it may be refused too.",
         .fix = set_attribute(target.name(), "RedriveAllowPolicy", admitting(queue, target))});
  }

  static std::string admitting(const Queue& queue, const Queue& target) {
    const auto& sources = target.allow.source_arns;
    if (target.allow.permission != AllowPolicy::Permission::by_queue ||
        sources.size() >= kAllowedSourcesMax) {
      return R"({"redrivePermission":"allowAll"})";
    }
    std::string list;
    for (const std::string& arn : sources) list += fmt::format("\"{}\",", arn);
    return fmt::format(
        R"({{"redrivePermission":"byQueue","sourceQueueArns":[{}"{}"]}})", list, queue.arn);
  }

  void look_at_kinds(const Queue& queue, const Queue& target) {
    if (queue.fifo == target.fifo) return;
    const std::string arn = with_dlq_suffix(queue.arn);
    findings_.push_back({.severity = Severity::problem,
                         .rule = "kind-mismatch",
                         .queue = std::string(queue.name()),
                         .what = fmt::format("it is {}, but {} is {}",
                                             queue.fifo ? "FIFO" : "standard",
                                             target.name(),
                                             target.fifo ? "FIFO" : "standard"),
                         .why = "Dead letters can only go to a queue of the same kind.",
                         .fix = create_dead_letter_queue(name_of_arn(arn)) + " && " +
                                set_target(queue.name(), arn, queue.target->receive_count_max)});
  }

  void look_at_messages(const Queue& queue) {
    if (topology_.is_dead_letter_queue(queue)) return look_at_expiry(queue);
    if (queue.visible <= kUnreadMany || queue.in_flight > 0) return;
    findings_.push_back(
        {.severity = Severity::warning,
         .rule = "nobody-receives",
         .queue = std::string(queue.name()),
         .what = fmt::format("{} messages wait and none is in flight", queue.visible),
         .why = "No consumer seems to receive from this queue; messages that are not received "
                "expire without becoming dead letters.",
         .fix = shell_command({"redrive", "dlq", "peek", queue.name()})});
  }

  void look_at_expiry(const Queue& queue) {
    if (!queue.oldest_expires_in || queue.messages() == 0) return;
    // With a short retention, a fixed limit would always apply.
    const Duration soon = std::min(kExpirySoon, queue.retention / 4);
    if (*queue.oldest_expires_in > soon) return;
    std::string fix = shell_command(
        {"redrive", "dlq", "export", queue.name(), fmt::format("{}.ndjson", queue.name())});
    if (queue.retention < kRetentionMax) fix = set_retention(queue.name(), kRetentionMax);
    findings_.push_back(
        {.severity = Severity::problem,
         .rule = "dead-letters-expire",
         .queue = std::string(queue.name()),
         .what = fmt::format("it contains {} dead letters, and the oldest expires in {}",
                             queue.messages(),
                             days(*queue.oldest_expires_in)),
         .why = "Dead letters that expire are lost.",
         .fix = std::move(fix)});
  }

  void look_for_dead_letter_queue(const Queue& queue) {
    if (queue.target || topology_.is_dead_letter_queue(queue)) return;
    const std::string arn = with_dlq_suffix(queue.arn);
    std::string fix = set_target(queue.name(), arn, kReceivesGood);
    if (topology_.find(arn) == nullptr) {
      fix = create_dead_letter_queue(name_of_arn(arn)) + " && " + fix;
    }
    findings_.push_back({.severity = Severity::advice,
                         .rule = "no-dlq",
                         .queue = std::string(queue.name()),
                         .what = "it has no dead-letter queue",
                         .why = "A message that cannot be processed is redelivered until it "
                                "expires, and wastes the consumers' time.",
                         .fix = std::move(fix)});
  }

  // A loop is reported once, for its alphabetically first queue.
  void look_for_chains(const Queue& queue) {
    const auto loop = topology_.loop_of(queue);
    if (loop.size() == 1) return;  // See look_at_own_target.
    if (!loop.empty()) {
      const bool first = std::ranges::all_of(
          loop, [&](const Queue* each) { return each == &queue || queue.name() < each->name(); });
      if (first) add_loop(loop);
      return;
    }
    if (!queue.target || !topology_.is_dead_letter_queue(queue)) return;
    findings_.push_back(
        {.severity = Severity::warning,
         .rule = "dlq-chain",
         .queue = std::string(queue.name()),
         .what = fmt::format("it is a dead-letter queue and has a dead-letter queue itself, {}",
                             name_of_arn(queue.target->arn)),
         .why = "Inspecting dead letters by receiving them moves them on to another queue.",
         .fix = set_attribute(queue.name(), "RedrivePolicy", "")});
  }

  void add_loop(const std::vector<const Queue*>& loop) {
    std::string names;
    for (const Queue* each : loop) names += fmt::format("{} -> ", each->name());
    names += loop.front()->name();
    findings_.push_back(
        {.severity = Severity::problem,
         .rule = "dlq-loop",
         .queue = std::string(loop.front()->name()),
         .what = fmt::format("dead-letter queues form a loop: {}", names),
         .why = "A message that always fails is never set aside: it circulates until it expires.",
         .fix = set_attribute(loop.back()->name(), "RedrivePolicy", "")});
  }

  void look_for_alarm(const Queue& queue) {
    if (!topology_.is_dead_letter_queue(queue) || queue.alarmed.value_or(true)) return;
    findings_.push_back(
        {.severity = Severity::warning,
         .rule = "dlq-no-alarm",
         .queue = std::string(queue.name()),
         .what = "its alarm is off: no notification is sent when dead letters arrive",
         .why = "Unnoticed dead letters expire, or are first noticed by customers.",
         .fix = shell_command({"redrive", "alarm", "on", queue.name()})});
  }

  // A failing target is one finding, however many alarms use it.
  void look_at_notices() {
    std::map<std::pair<std::string, std::string>, std::vector<const NoticeTarget*>> troubles;
    for (const NoticeTarget& each : topology_.notice_targets()) {
      if (each.state == "unreachable" || each.state == "given-up" || each.state == "failing") {
        troubles[{each.state, each.target}].push_back(&each);
      }
    }
    for (const auto& [trouble, of] : troubles) add_notice_finding(*of.front(), of.size());
  }

  void add_notice_finding(const NoticeTarget& of, std::size_t alarms) {
    Finding finding{.severity = Severity::warning,
                    .rule = "alarm-target-unreachable",
                    .queue = of.queue.empty() ? of.alarm : of.queue,
                    .what = {},
                    .why = "The alarm fires, but its notification is not delivered.",
                    .fix = shell_command({"redrive", "alarm", "history", of.alarm})};
    const std::string more = alarms == 1 ? "" : fmt::format(" and {} more", alarms - 1);
    const std::string alarm = fmt::format("alarm \"{}\"{}", of.alarm, more);
    if (of.state == "failing") {
      finding.rule = "alarm-notice-failing";
      finding.what = fmt::format("{} cannot reach {}: {}", alarm, of.target, of.error);
    } else if (of.state == "given-up") {
      finding.rule = "alarm-notice-undelivered";
      finding.what = fmt::format(
          "the last notification of {} did not reach {}: {}", alarm, of.target, of.error);
    } else {
      finding.what = fmt::format(
          "{} has the target {}, which cannot be notified: {}", alarm, of.target, of.error);
    }
    findings_.push_back(std::move(finding));
  }

  void look_at_handler(const Queue& queue, const Handler& handler) {
    if (!handler.timeout) {
      add(queue,
          {.severity = Severity::problem,
           .rule = "handler-missing",
           .queue = {},
           .what = fmt::format("it feeds the function {}, which does not exist", handler.function),
           .why = "Its messages wait until they expire.",
           .fix = shell_command({"redrive", "mapping", "rm", handler.mapping})});
      return;
    }
    look_at_handler_state(queue, handler);
    look_at_handler_processes(queue, handler);
    look_at_handler_visibility(queue, handler);
    look_at_handler_batches(queue, handler);
    look_at_handler_lone_runs(queue, handler);
    look_at_handler_retries(queue, handler);
    look_at_handler_receives(queue, handler);
  }

  void look_at_handler_state(const Queue& queue, const Handler& handler) {
    if (!handler.enabled) {
      add(queue,
          {.severity = queue.messages() > 0 ? Severity::warning : Severity::advice,
           .rule = "mapping-disabled",
           .queue = {},
           .what = fmt::format("its mapping to {} is disabled", handler.function),
           .why = "Messages wait until it is enabled again, or until they expire.",
           .fix = shell_command({"redrive", "mapping", "resume", handler.mapping})});
    } else if (handler.stuck) {
      add(queue,
          {.severity = Severity::problem,
           .rule = "mapping-stuck",
           .queue = {},
           .what = fmt::format("its mapping to {} is enabled but cannot run", handler.function),
           .why = "Messages wait for a handler that never runs; see the log for the reason.",
           .fix = shell_command({"redrive", "logs"})});
    } else if (handler.messages >= kRunsTelling && handler.failed * 2 > handler.messages) {
      add(queue,
          {.severity = Severity::problem,
           .rule = "mapping-failing",
           .queue = {},
           .what = fmt::format("{} failed with {} of {} messages",
                               handler.function,
                               handler.failed,
                               handler.messages),
           .why = "Most messages fail and become dead letters after their retries.",
           .fix = shell_command({"redrive", "function", "logs", handler.function})});
    }
  }

  void look_at_handler_processes(const Queue& queue, const Handler& handler) {
    if (!handler.short_of_processes) return;
    add(queue,
        {.severity = Severity::warning,
         .rule = "function-processes",
         .queue = {},
         .what = fmt::format(
             "its handler {} waits for function processes: the server's limit is reached",
             handler.function),
         .why = "Batches wait for each other, and the backlog grows. If the machine has capacity, "
                "raise function-processes in the table [limits] of redrive.toml.",
         .fix = {}});
  }

  void look_at_handler_visibility(const Queue& queue, const Handler& handler) {
    const Duration needed =
        std::min(kVisibilityMax, *handler.timeout * kTimeoutsHidden + handler.window);
    if (queue.visibility_timeout >= needed) return;
    const auto text = [](Duration duration) { return duration_cast<seconds>(duration).count(); };
    add(queue,
        {.severity = Severity::warning,
         .rule = "handler-visibility",
         .queue = {},
         .what = fmt::format("its messages are hidden for {} s, but {} may take {} s for a run{}",
                             text(queue.visibility_timeout),
                             handler.function,
                             text(*handler.timeout),
                             handler.window > Duration::zero()
                                 ? fmt::format(" and gathers for {} s", text(handler.window))
                                 : ""),
         .why = "A message that becomes visible while it is still being processed is processed "
                "twice, and each receive counts towards the dead-letter queue; six timeouts allow "
                "for throttled runs.",
         .fix = set_attribute(queue.name(), "VisibilityTimeout", std::to_string(text(needed)))});
  }

  // Isolation applies to standard queues only.
  static bool is_isolated(const Queue& queue, const Handler& handler) {
    return handler.isolates && !queue.fifo;
  }

  void look_at_handler_batches(const Queue& queue, const Handler& handler) {
    if (handler.batch_size <= 1 || handler.item_failures || handler.bisects ||
        is_isolated(queue, handler))
      return;
    add(queue,
        {.severity = Severity::warning,
         .rule = "batch-fails-together",
         .queue = {},
         .what = fmt::format(
             "{} receives batches of up to {} messages, and one bad message fails all of them",
             handler.function,
             handler.batch_size),
         .why = "Messages of a failed batch are retried together: good messages become dead "
                "letters because of a bad one.",
         .fix = shell_command({"redrive",
                               "mapping",
                               "set",
                               handler.mapping,
                               queue.fifo ? "--bisect" : "--isolate-retries",
                               "on"})});
  }

  // After a batch failed, each of its messages may run alone within one receive.
  void look_at_handler_lone_runs(const Queue& queue, const Handler& handler) {
    if (handler.batch_size <= 1 || handler.item_failures || !is_isolated(queue, handler)) return;
    const Duration needed =
        std::min(kVisibilityMax, *handler.timeout * handler.batch_size + handler.window);
    if (queue.visibility_timeout >= needed) return;
    const auto text = [](Duration duration) { return duration_cast<seconds>(duration).count(); };
    add(queue,
        {.severity = Severity::advice,
         .rule = "batch-visibility",
         .queue = {},
         .what = fmt::format("its messages are hidden for {} s, but a batch of {} that fails in {} "
                             "may need {} isolated runs of up to {} s",
                             text(queue.visibility_timeout),
                             handler.batch_size,
                             handler.function,
                             handler.batch_size,
                             text(*handler.timeout)),
         .why = "Messages stay hidden while they wait for their isolated run, but those that fail "
                "after the visibility timeout are retried without a pause.",
         .fix = set_attribute(queue.name(), "VisibilityTimeout", std::to_string(text(needed)))});
  }

  void look_at_handler_retries(const Queue& queue, const Handler& handler) {
    if (!queue.target || !handler.retries) return;
    const std::int64_t needed = std::min(kReceivesMax, *handler.retries + 1);
    if (queue.target->receive_count_max >= needed) return;
    add(queue,
        {.severity = Severity::warning,
         .rule = "handler-retries",
         .queue = {},
         .what = fmt::format("its mapping to {} retries up to {} times, but messages become dead "
                             "letters after {} {}",
                             handler.function,
                             *handler.retries,
                             queue.target->receive_count_max,
                             queue.target->receive_count_max == 1 ? "receive" : "receives"),
         .why = "Every retry is a receive: the message becomes a dead letter before the mapping's "
                "retries are used up.",
         .fix = set_target(queue.name(), queue.target->arn, needed)});
  }

  void look_at_handler_receives(const Queue& queue, const Handler& handler) {
    if (is_isolated(queue, handler)) return;  // Throttled runs use up no receive.
    // Fewer are reported by another rule.
    if (!queue.target || queue.target->receive_count_max < kReceivesFew ||
        queue.target->receive_count_max >= kReceivesGood)
      return;
    add(queue,
        {.severity = Severity::warning,
         .rule = "handler-few-receives",
         .queue = {},
         .what = fmt::format("messages become dead letters after {} receives by a mapping to {}",
                             queue.target->receive_count_max,
                             handler.function),
         .why = "Throttled runs use up receives as well; with fewer than five, good messages "
                "become dead letters when the function is busy.",
         .fix = set_target(queue.name(), queue.target->arn, kReceivesGood)});
  }

  void add(const Queue& queue, Finding finding) {
    finding.queue = queue.name();
    findings_.push_back(std::move(finding));
  }

  const Topology& topology_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::advice:
      return "advice";
    case Severity::warning:
      return "warning";
    case Severity::problem:
      return "problem";
  }
  return "problem";
}

std::vector<Finding> examine(const Topology& topology) {
  return Examination(topology).run();
}

}  // namespace redrive::topology
