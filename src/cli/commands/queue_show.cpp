#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/commands/commands.h"
#include "cli/term/table.h"

// redrive queue show: all details of one queue.

namespace redrive::cli {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Answer<std::vector<std::string>> list_sources(Session& session, const std::string& url) {
  std::vector<std::string> sources;
  std::string token;
  do {
    sqs::ListDeadLetterSourceQueuesInput input{.queue_url = url, .max_results = 1000};
    if (!token.empty()) input.next_token = token;
    const auto page = session.service.call<sqs::ListDeadLetterSourceQueues>(input);
    // Not every SQS-compatible server supports this action.
    if (!page && page.error().code == "InvalidAction") return sources;
    if (!page) return std::unexpected(page.error());
    sources.insert(sources.end(), (*page)->queue_urls.begin(), (*page)->queue_urls.end());
    token = (*page)->next_token.value_or("");
  } while (!token.empty());
  return sources;
}

// Adds a date to timestamps given in seconds since 1970.
std::string readable_value(std::string_view name, std::string_view value) {
  const auto seconds = parse_int<std::int64_t>(value);
  constexpr std::int64_t kYear9999 = 253'402'300'799;
  if (!name.ends_with("Timestamp") || !seconds || *seconds < 0 || *seconds > kYear9999) {
    return harmless(value);
  }
  const auto time = fmt::gmtime(static_cast<std::time_t>(*seconds));
  return fmt::format("{} ({:%Y-%m-%d %H:%M:%S} UTC)", value, time);
}

void print_section(Terminal& terminal, std::string_view title, Pairs pairs) {
  if (pairs.empty()) return;
  std::sort(pairs.begin(), pairs.end());
  terminal.out << paint(terminal, Color::bold, title) << "\n"
               << name_value_lines(terminal, pairs, 2);
}

void print_document(Terminal& terminal, const QueueDocument& document) {
  Pairs attributes;
  for (const auto& [name, value] : document.attributes) {
    attributes.emplace_back(harmless(name), readable_value(name, value));
  }
  Pairs tags;
  for (const auto& [key, value] : document.tags) tags.emplace_back(harmless(key), harmless(value));
  Pairs sources;
  for (const std::string_view url : document.dead_letter_source_queue_urls) {
    sources.emplace_back(harmless(queue_name_of(url)), harmless(url));
  }
  const std::string url = harmless(document.queue_url);
  print_section(terminal, "Queue", {{std::string(queue_name_of(url)), url}});
  print_section(terminal, "Attributes", std::move(attributes));
  print_section(terminal, "Tags", std::move(tags));
  print_section(terminal, "Dead-letter queue of", std::move(sources));
}

Answer<void> run_queue_show(const std::string& queue, Session& session) {
  const std::string url = TRY(find_queue_url(session.service, queue));
  const auto attributes = TRY(session.service.call<sqs::GetQueueAttributes>(
      {.queue_url = url, .attribute_names = {"All"}}));
  const auto tags = TRY(session.service.call<sqs::ListQueueTags>({.queue_url = url}));
  const auto sources = TRY(list_sources(session, url));
  const QueueDocument document{.queue_url = url,
                               .attributes = attributes->attributes,
                               .tags = tags->tags,
                               .dead_letter_source_queue_urls = {sources.begin(), sources.end()}};
  if (session.json) {
    session.terminal().out << json_line(document);
  } else {
    print_document(session.terminal(), document);
  }
  return {};
}

}  // namespace

void add_queue_show(Verb parent, Commands& commands) {
  auto queue = std::make_shared<std::string>();
  Verb verb = parent.verb("show", "Show a queue's attributes, tags and sources");
  verb.option("QUEUE", *queue, "Name, URL or ARN").required();
  commands.attach(
      verb,
      [queue](Session& session) { return run_queue_show(*queue, session); },
      [queue] { return *queue; });
}

}  // namespace redrive::cli
