#include "cli/client/outgoing.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"

// redrive queue set: changes attributes atomically.

namespace redrive::cli {
namespace {

struct QueueSetOptions {
  std::string queue;
  std::vector<std::string> attributes;
};

Answer<void> run_queue_set(const QueueSetOptions& options, Session& session) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : options.attributes) pairs.push_back(TRY(parse_pair(text)));
  const std::string url = TRY(find_queue_url(session.service, options.queue));
  TRY(session.service.call<sqs::SetQueueAttributes>(
      {.queue_url = url, .attributes = {pairs.begin(), pairs.end()}}));
  announce(session, "changed", url);
  return {};
}

}  // namespace

void add_queue_set(Verb parent, Commands& commands) {
  auto options = std::make_shared<QueueSetOptions>();
  Verb verb = parent.verb("set", "Change attributes of a queue");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.option("ATTRIBUTES", options->attributes, "NAME=VALUE; an empty value removes the attribute")
      .required()
      .many();
  commands.attach(
      verb,
      [options](Session& session) { return run_queue_set(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
