#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"
#include "manage/documents/policy.h"

// redrive dlq policy: what a dead-letter queue does automatically.

namespace redrive::cli {
namespace {

struct DlqPolicyOptions {
  std::string queue;
  std::optional<std::int64_t> max_redrives;
  std::optional<std::int64_t> redrive_after;
  std::optional<std::int64_t> backoff_rate;
  std::optional<std::int64_t> redrive_after_max;
  std::optional<std::string> then;
  std::optional<std::string> archive;
  bool archive_expiring = false;
  bool off = false;

  bool sets() const {
    return max_redrives || redrive_after || backoff_rate || redrive_after_max || then || archive ||
           archive_expiring;
  }
};

void print_policy(Session& session, const documents::Policy& policy) {
  if (session.json) {
    session.terminal().out << json_line(policy);
    return;
  }
  if (policy.source == "none") {
    session.terminal().out << "no policy\n";
    return;
  }
  const std::int64_t redrives = policy.max_redrives.value_or(0);
  const std::int64_t after = policy.redrive_after_seconds.value_or(0);
  std::vector<std::pair<std::string, std::string>> lines{
      {"redrives", redrives == 0 ? "no limit" : fmt::format("at most {}", redrives)},
      {"automatic",
       after == 0 ? "never"
                  : fmt::format("after {} s, then {} times longer each time, at most {} s",
                                after,
                                policy.backoff_rate.value_or(1),
                                policy.max_redrive_after_seconds.value_or(0))}};
  if (redrives > 0) lines.emplace_back("then", harmless(policy.then.value_or("park")));
  if (policy.archive_expiring.value_or(false)) lines.emplace_back("before expiry", "archive");
  if (policy.archive) lines.emplace_back("archive", harmless(*policy.archive));
  lines.emplace_back("set by", harmless(policy.source.value_or("")));
  session.terminal().out << name_value_lines(session.terminal(), lines);
}

Answer<void> run_dlq_policy(const DlqPolicyOptions& options, Session& session) {
  const std::string path =
      fmt::format("queues/{}/policy", percent_encode(queue_name_of(options.queue), false));
  std::string body;
  if (options.off && options.sets())
    return usage_failure("--off removes the whole policy and takes no other options");
  if (options.sets()) {
    documents::Policy policy{.max_redrives = options.max_redrives,
                             .redrive_after_seconds = options.redrive_after,
                             .backoff_rate = options.backoff_rate,
                             .max_redrive_after_seconds = options.redrive_after_max,
                             .then = options.then,
                             .archive = options.archive};
    if (options.archive_expiring) policy.archive_expiring = true;
    body = TRY(request_body(policy));
  }
  const std::string_view method = options.off ? "DELETE" : options.sets() ? "PUT" : "GET";
  print_policy(session, *TRY(session.service.manage<documents::Policy>(method, path, body)));
  return {};
}

}  // namespace

void add_dlq_policy(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqPolicyOptions>();
  Verb verb = parent.verb("policy", "Show or set the policy of a dead-letter queue");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.option("--max-redrives", options->max_redrives, "Maximum redrives of each message")
      .range(0, 1000);
  verb.option("--redrive-after",
              options->redrive_after,
              "Redrive automatically after this many seconds")
      .range(0, 1'209'600);
  verb.option(
          "--backoff-rate", options->backoff_rate, "Factor by which the delay grows (default 2)")
      .range(1, 100);
  verb.option("--max-redrive-after",
              options->redrive_after_max,
              "Maximum delay in seconds (default 43200)")
      .range(1, 1'209'600);
  verb.option("--then", options->then, "What to do after the last redrive")
      .one_of({"park", "discard", "archive"});
  verb.flag(
      "--archive-expiring", options->archive_expiring, "Archive messages that are about to expire");
  verb.option("--archive", options->archive, "Where to archive: bucket/prefix")
      .value_name("BUCKET/PREFIX");
  verb.flag("--off", options->off, "Remove the queue's policy");
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_policy(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
