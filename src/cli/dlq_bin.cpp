#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/message_key.h"
#include "cli/message_pages.h"
#include "cli/queue_document.h"
#include "cli/queue_name.h"
#include "documents/corrections.h"
#include "documents/message_page.h"

// redrive dlq discard|restore|bin: dead letters put aside for a week, and taken back.

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
                                          action == "discard" ? "put into the bin" : "taken back");
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
    if (!key) return usage_failure("messages in the bin are called by their keys: redrive dlq bin");
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
    CHECK(check_secrets(secrets, page->masked));
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
  auto [discard, discarded] = add(
      "discard", "Put dead letters into the bin, where they rest for seven days", &run_dlq_discard);
  discard.option("MESSAGE", discarded->messages, "Keys or MessageIds").many();
  discard.option("--group", discarded->group, "A whole failure group, by its id");
  discard.option("--filter", discarded->filter, "All that a filter chooses");
  discard.flag("--all", discarded->all, "Everything in the queue");
  discard.option("--reason", discarded->reason, "Why; stands in each message's history");
  auto [restore, restored] = add("restore", "Take messages back from the bin", &run_dlq_restore);
  restore.option("MESSAGE", restored->messages, "Their keys").many();
  restore.flag("--all", restored->all, "Everything in the bin");
  auto [bin, shown] = add("bin", "Show what was discarded and can be taken back", &run_dlq_bin);
  bin.flag("--unmasked", shown->unmasked, "Show values that look like secrets");
}

}  // namespace redrive::cli
