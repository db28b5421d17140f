#include <fmt/format.h>

#include "cli/client/permission.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"

// redrive queue purge: deletes all messages of a queue.

namespace redrive::cli {
namespace {

struct QueuePurgeOptions {
  std::string queue;
  bool yes = false;
};

Answer<void> run_queue_purge(const QueuePurgeOptions& options, Session& session) {
  const std::string url = TRY(find_queue_url(session.service, options.queue));
  RETURN_IF_ERROR(
      ask_permission(session,
                     options.yes,
                     fmt::format("Delete all messages in {}?", harmless(queue_name_of(url)))));
  TRY(session.service.call<sqs::PurgeQueue>({.queue_url = url}));
  announce(session, "purged", url);
  return {};
}

}  // namespace

void add_queue_purge(Verb parent, Commands& commands) {
  auto options = std::make_shared<QueuePurgeOptions>();
  Verb verb = parent.verb("purge", "Delete all messages of a queue");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.flag("-y,--yes", options->yes, "Do not ask for confirmation");
  commands.attach(
      verb,
      [options](Session& session) { return run_queue_purge(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
