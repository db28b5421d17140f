#include <fmt/format.h>

#include "cli/client/permission.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"

// redrive queue rm: deletes queues with everything in them.

namespace redrive::cli {
namespace {

struct QueueRemoveOptions {
  std::vector<std::string> queues;
  bool yes = false;
};

std::string question_for(const std::vector<std::string>& urls) {
  std::vector<std::string> names;
  for (const std::string& url : urls) names.push_back(harmless(queue_name_of(url)));
  return fmt::format("Delete {} and all its messages?", fmt::join(names, ", "));
}

// All are looked up before the first is deleted, so that a typo in one name deletes nothing.
Answer<void> run_queue_remove(const QueueRemoveOptions& options, Session& session) {
  std::vector<std::string> urls;
  for (const std::string& queue : options.queues) {
    urls.push_back(TRY(find_queue_url(session.service, queue)));
  }
  RETURN_IF_ERROR(ask_permission(session, options.yes, question_for(urls)));
  for (const std::string& url : urls) {
    TRY(session.service.call<sqs::DeleteQueue>({.queue_url = url}));
    announce(session, "deleted", url);
  }
  return {};
}

}  // namespace

void add_queue_remove(Verb parent, Commands& commands) {
  auto options = std::make_shared<QueueRemoveOptions>();
  Verb verb = parent.verb("rm", "Delete queues and their messages");
  verb.option("QUEUES", options->queues, "Names, URLs or ARNs").required().many();
  verb.flag("-y,--yes", options->yes, "Do not ask for confirmation");
  commands.attach(
      verb,
      [options](Session& session) { return run_queue_remove(*options, session); },
      [options] { return options->queues.front(); });
}

}  // namespace redrive::cli
