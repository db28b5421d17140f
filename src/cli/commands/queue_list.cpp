#include <fmt/format.h>

#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"

// redrive queue ls: all queues, their message counts and their dead-letter queues.

namespace redrive::cli {
namespace {

constexpr std::int32_t kPageSize = 1000;

using Align = Table::Align;

Answer<std::vector<std::string>> list_urls(Session& session, const std::string& prefix) {
  std::vector<std::string> urls;
  std::string token;
  do {
    sqs::ListQueuesInput input{.max_results = kPageSize};
    if (!prefix.empty()) input.queue_name_prefix = prefix;
    if (!token.empty()) input.next_token = token;
    const auto page = TRY(session.service.call<sqs::ListQueues>(input));
    urls.insert(urls.end(), page->queue_urls.begin(), page->queue_urls.end());
    token = page->next_token.value_or("");
  } while (!token.empty());
  return urls;
}

std::string dead_letter_cell(std::string_view policy) {
  const auto target = parse_redrive_policy(policy);
  if (!target) return "";
  return fmt::format("{} (after {})", queue_name_of(target->arn), target->receive_count_max);
}

void add_row(Table& table, std::string_view url, const sqs::StringMap& attributes) {
  const auto cell = [&](std::string_view name) { return harmless(attribute_of(attributes, name)); };
  table.add({harmless(queue_name_of(url)),
             cell("ApproximateNumberOfMessages"),
             cell("ApproximateNumberOfMessagesNotVisible"),
             cell("ApproximateNumberOfMessagesDelayed"),
             harmless(dead_letter_cell(attribute_of(attributes, "RedrivePolicy")))});
}

Answer<void> run_queue_list(const std::string& prefix, Session& session) {
  Table table({{"NAME"},
               {"VISIBLE", Align::right},
               {"IN FLIGHT", Align::right},
               {"DELAYED", Align::right},
               {"DEAD-LETTER QUEUE"}});
  for (const std::string& url : TRY(list_urls(session, prefix))) {
    const auto reply = session.service.call<sqs::GetQueueAttributes>(
        {.queue_url = url, .attribute_names = {"All"}});
    // A queue may be deleted after it was listed.
    if (!reply && reply.error().code == kNoSuchQueue) continue;
    if (!reply) return std::unexpected(reply.error());
    if (session.json) {
      session.terminal().out << json_line(
          QueueDocument{.queue_url = url, .attributes = (*reply)->attributes});
    } else {
      add_row(table, url, (*reply)->attributes);
    }
  }
  if (session.json) return {};
  if (table.empty()) {
    session.terminal().err << "no queues\n";
  } else {
    session.terminal().out << table.text(session.terminal());
  }
  return {};
}

}  // namespace

void add_queue_list(Verb parent, Commands& commands) {
  auto prefix = std::make_shared<std::string>();
  Verb verb = parent.verb("ls", "List queues with their message counts");
  verb.option("PREFIX", *prefix, "Only queues whose names start with this");
  commands.attach(verb, [prefix](Session& session) { return run_queue_list(*prefix, session); });
}

}  // namespace redrive::cli
