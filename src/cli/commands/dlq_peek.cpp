#include "cli/client/message_pages.h"
#include "cli/commands/commands.h"

// redrive dlq peek and search: shows messages and their history without receiving them.

namespace redrive::cli {
namespace {

struct DlqPeekOptions {
  MessageQuestion question;
  bool unmasked = false;
};

Answer<void> run_dlq_peek(const DlqPeekOptions& options, Session& session) {
  const Secrets secrets = options.unmasked ? Secrets::shown : Secrets::masked;
  MessageQuestion question = options.question;
  question.secrets = secrets;
  const auto shown =
      TRY(for_each_message(session, question, [&](const documents::Message& message) {
        print_message(session, message, secrets);
        return true;
      }));
  if (shown == 0 && !session.json) session.terminal().err << "no messages\n";
  return {};
}

void attach_dlq_peek(Verb verb, Commands& commands, std::shared_ptr<DlqPeekOptions> options) {
  verb.flag("--unmasked", options->unmasked, "Do not mask values that look like secrets");
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_peek(*options, session); },
      [options] { return options->question.queue; });
}

}  // namespace

void add_dlq_peek(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqPeekOptions>();
  options->question.messages_max = 10;
  Verb verb = parent.verb("peek", "Show messages and their attempts without receiving them");
  verb.option("QUEUE", options->question.queue, "Name, URL or ARN").required();
  verb.option("--max",
              options->question.messages_max,
              "Maximum number of messages, oldest first (default 10)")
      .range(1, 1'000'000'000);
  attach_dlq_peek(verb, commands, options);
}

void add_dlq_search(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqPeekOptions>();
  options->question.messages_max = 100;
  Verb verb = parent.verb("search", "Show messages that match a filter, without receiving them");
  verb.option("QUEUE", options->question.queue, "Name, URL or ARN").required();
  verb.option("FILTER",
              options->question.filter,
              "Such as '$.total > 100 and attribute.region == \"eu\"'")
      .required();
  verb.option("--max",
              options->question.messages_max,
              "Maximum number of messages, oldest first (default 100)")
      .range(1, 1'000'000'000);
  attach_dlq_peek(verb, commands, options);
}

}  // namespace redrive::cli
