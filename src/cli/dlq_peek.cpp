#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/message_view.h"
#include "cli/queue_document.h"
#include "cli/queue_name.h"
#include "documents/message_page.h"

// redrive dlq peek: looks at messages and what they have been through, without touching them.

namespace redrive::cli {
namespace {

constexpr std::uint64_t kPageMessages = 100;

struct DlqPeekOptions {
  std::string queue;
  std::uint64_t count_max = 10;
};

void print(Session& session, const documents::Message& message) {
  if (session.json) {
    session.terminal().out << json_line(message);
  } else {
    session.terminal().out << readable_message(session.terminal(), message);
  }
}

Answer<void> run_dlq_peek(const DlqPeekOptions& options, Session& session) {
  const std::string name = percent_encode(queue_name_of(options.queue), false);
  std::string after;
  std::uint64_t printed = 0;
  do {
    const std::uint64_t wanted = std::min(kPageMessages, options.count_max - printed);
    const auto page = TRY(session.service.manage<documents::MessagePage>(
        "GET", fmt::format("queues/{}/messages?limit={}&after={}", name, wanted, after)));
    for (const documents::Message& message : page->messages) print(session, message);
    printed += page->messages.size();
    after = page->next.value_or("");
  } while (!after.empty() && printed < options.count_max);
  if (printed == 0 && !session.json) session.terminal().err << "no messages\n";
  return {};
}

}  // namespace

void add_dlq_peek(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqPeekOptions>();
  Verb verb = parent.verb(
      "peek", "Show messages of any queue, and what they have been through, without touching them");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.option("--max", options->count_max, "How many at most, oldest first (default 10)")
      .range(1, 1'000'000'000);
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_peek(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
