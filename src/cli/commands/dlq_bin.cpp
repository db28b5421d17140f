#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/message_key.h"
#include "cli/client/message_pages.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "manage/documents/corrections.h"
#include "manage/documents/message_page.h"

// redrive dlq discard|restore|bin: moves dead letters to the bin for a week, and back.

namespace redrive::cli {
namespace {

struct DlqBinOptions {
  std::string queue;
  std::vector<std::string> messages;
  std::string group;
  std::string filter;
  bool all = false;
  bool unmasked = false;
  std::string reason;
};

Answer<void> touch(Session& session, const DlqBinOptions& options, std::string_view action,
                   const documents::Choice& choice) {
  const std::string path =
      fmt::format("queues/{}/{}", percent_encode(queue_name_of(options.queue), false), action);
  std::string body = TRY(request_body(choice));
  std::int64_t messages = 0;
  bool more = true;
  while (more) {
    const auto touched = TRY(session.service.manage<documents::Touched>("POST", path, body));
    messages += touched->messages;
    more = touched->more && touched->messages > 0;
  }
  if (session.json) {
    session.terminal().out << json_line(documents::Touched{.messages = messages});
  } else {
    session.terminal().out << fmt::format("{} {}{}\n",
                                          messages,
                                          messages == 1 ? "message " : "messages ",
                                          action == "discard" ? "discarded" : "restored");
  }
  return {};
}

Answer<void> run_dlq_discard(const DlqBinOptions& options, Session& session) {
  documents::Choice choice{
      .group = options.group, .filter = options.filter, .reason = options.reason};
  if (options.all) choice.all = true;
  for (const std::string& message : options.messages) {
    choice.keys.push_back(TRY(find_message_key(session, options.queue, message)));
  }
  return touch(session, options, "discard", choice);
}

Answer<void> run_dlq_restore(const DlqBinOptions& options, Session& session) {
  documents::Choice choice;
  if (options.all) choice.all = true;
  for (const std::string& message : options.messages) {
    const auto key = parse_int<std::int64_t>(message);
    if (!key)
      return usage_failure("messages in the bin are identified by key, see: redrive dlq bin QUEUE");
    choice.keys.push_back(*key);
  }
  return touch(session, options, "restore", choice);
}

Answer<void> run_dlq_bin(const DlqBinOptions& options, Session& session) {
  const std::string name = percent_encode(queue_name_of(options.queue), false);
  std::string after;
  const Secrets secrets = options.unmasked ? Secrets::shown : Secrets::masked;
  do {
    const auto page = TRY(session.service.manage<documents::MessagePage>(
        "GET", fmt::format("queues/{}/bin?after={}{}", name, after, secrets_parameter(secrets))));
    RETURN_IF_ERROR(check_secrets(secrets, page->masked));
    for (const documents::Message& message : page->messages) {
      print_message(session, message, secrets);
    }
    after = page->next.value_or("");
  } while (!after.empty());
  return {};
}

}  // namespace

void add_dlq_bin(Verb parent, Commands& commands) {
  const auto add = [&](const std::string& name,
                       const std::string& help,
                       Answer<void> (*run)(const DlqBinOptions&, Session&)) {
    auto options = std::make_shared<DlqBinOptions>();
    Verb verb = parent.verb(name, help);
    verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
    commands.attach(
        verb,
        [options, run](Session& session) { return run(*options, session); },
        [options] { return options->queue; });
    return std::pair(verb, options);
  };
  auto [discard, discarded] =
      add("discard", "Move dead letters to the bin for seven days", &run_dlq_discard);
  discard.option("MESSAGE", discarded->messages, "Keys or MessageIds").many();
  discard.option("--group", discarded->group, "All messages of a failure group, by id");
  discard.option("--filter", discarded->filter, "All messages that match a filter");
  discard.flag("--all", discarded->all, "All messages in the queue");
  discard.option("--reason", discarded->reason, "Reason, recorded in each message's history");
  auto [restore, restored] = add("restore", "Restore messages from the bin", &run_dlq_restore);
  restore.option("MESSAGE", restored->messages, "Keys of messages").many();
  restore.flag("--all", restored->all, "All discarded messages in the bin");
  auto [bin, shown] = add("bin", "List messages in the bin", &run_dlq_bin);
  bin.flag("--unmasked", shown->unmasked, "Do not mask values that look like secrets");
}

}  // namespace redrive::cli
