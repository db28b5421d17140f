#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/client/outgoing.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"

// redrive queue create: creates a queue and, if requested and missing, its dead-letter queue.

namespace redrive::cli {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct QueueCreateOptions {
  std::string name;
  bool fifo = false;
  std::vector<std::string> attributes;
  std::vector<std::string> tags;
  std::string dlq;
  std::int64_t receive_count_max = 3;
};

Answer<Pairs> parse_pairs(const std::vector<std::string>& texts) {
  Pairs pairs;
  for (const std::string& text : texts) pairs.push_back(TRY(parse_pair(text)));
  return pairs;
}

sqs::StringMap views_of(const Pairs& pairs) {
  return {pairs.begin(), pairs.end()};
}

bool has(const Pairs& pairs, std::string_view name) {
  return std::ranges::find(pairs, name, &Pairs::value_type::first) != pairs.end();
}

std::string with_suffix(const std::string& name, bool fifo) {
  return fifo && !is_fifo_name(name) ? name + ".fifo" : name;
}

Answer<std::string> create(Session& session, const std::string& name, const Pairs& attributes,
                           const Pairs& tags) {
  const auto reply = TRY(session.service.call<sqs::CreateQueue>(
      {.queue_name = name, .attributes = views_of(attributes), .tags = views_of(tags)}));
  return std::string(reply->queue_url);
}

// A dead-letter queue created for the new queue.
struct MadeQueue {
  std::string name;
  std::string url;
};

// The queue's URL; creates the queue if it does not exist.
Answer<std::string> find_or_create(Session& session, const std::string& named, bool fifo,
                                   std::optional<MadeQueue>& made) {
  const auto found = find_queue_url(session.service, named);
  if (found || found.error().code != kNoSuchQueue) return found;
  const std::string name(queue_name_of(named));
  // Maximum retention: dead letters keep the age they had in the source, and would otherwise expire
  // before they are examined.
  Pairs attributes{{"MessageRetentionPeriod", "1209600"}};
  if (fifo) attributes.emplace_back("FifoQueue", "true");
  std::string url = TRY(create(session, name, attributes, {}));
  made = MadeQueue{name, url};
  return url;
}

// Removes the dead-letter queue if the queue itself cannot be created.
void take_back(Session& session, const MadeQueue& made) {
  const auto gone = session.service.call<sqs::DeleteQueue>({.queue_url = made.url});
  if (gone) return;
  session.terminal().err << fmt::format(
      "the dead-letter queue {} was created and cannot be deleted again: {}\n",
      harmless(made.name),
      harmless(gone.error().message));
}

Answer<std::string> redrive_policy(Session& session, const QueueCreateOptions& options, bool fifo,
                                   std::optional<MadeQueue>& made) {
  const std::string url = TRY(find_or_create(session, with_suffix(options.dlq, fifo), fifo, made));
  const auto reply = TRY(session.service.call<sqs::GetQueueAttributes>(
      {.queue_url = url, .attribute_names = {"QueueArn"}}));
  return format_redrive_policy({.arn = std::string(attribute_of(reply->attributes, "QueueArn")),
                                .receive_count_max = options.receive_count_max});
}

Answer<void> run_queue_create(const QueueCreateOptions& options, Session& session) {
  const bool fifo = options.fifo || is_fifo_name(options.name);
  Pairs attributes = TRY(parse_pairs(options.attributes));
  const Pairs tags = TRY(parse_pairs(options.tags));
  if (fifo && !has(attributes, "FifoQueue")) attributes.emplace_back("FifoQueue", "true");
  std::optional<MadeQueue> made;
  if (!options.dlq.empty()) {
    if (has(attributes, "RedrivePolicy")) {
      return usage_failure("--dlq and --attribute RedrivePolicy=… exclude each other");
    }
    auto policy = redrive_policy(session, options, fifo, made);
    if (!policy && made) take_back(session, *made);
    attributes.emplace_back("RedrivePolicy", TRY(std::move(policy)));
  }
  const std::string name = with_suffix(options.name, fifo);
  auto created = create(session, name, attributes, tags);
  if (!created && made) take_back(session, *made);
  const std::string url = TRY(std::move(created));
  if (made) {
    session.terminal().err << fmt::format("also created the dead-letter queue {}\n", made->name);
  }
  session.terminal().out << (session.json ? json_line(QueueDocument{.queue_url = url})
                                          : harmless(url) + "\n");
  return {};
}

}  // namespace

void add_queue_create(Verb parent, Commands& commands) {
  auto options = std::make_shared<QueueCreateOptions>();
  Verb verb = parent.verb("create", "Create a queue and print its URL");
  verb.option("NAME", options->name, "Name of the queue").required();
  verb.flag("--fifo", options->fifo, "Create a FIFO queue; .fifo is added to the name if missing");
  verb.option("--attribute", options->attributes, "Set a queue attribute, such as DelaySeconds=5")
      .value_name("NAME=VALUE")
      .one_at_a_time();
  verb.option("--tag", options->tags, "Set a tag").value_name("KEY=VALUE").one_at_a_time();
  const Option dlq = verb.option(
      "--dlq", options->dlq, "Dead-letter queue by name, URL or ARN; created if missing");
  verb.option("--max-receives",
              options->receive_count_max,
              "Receives before a message moves to the dead-letter queue (default 3)")
      .range(1, 1000)
      .needs(dlq);
  commands.attach(verb,
                  [options](Session& session) { return run_queue_create(*options, session); });
}

}  // namespace redrive::cli
