#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/message_pages.h"
#include "cli/client/message_view.h"
#include "cli/client/queue_document.h"
#include "cli/commands/commands.h"
#include "cli/term/json_text.h"
#include "cli/term/table.h"
#include "manage/documents/lineage.h"

// redrive dlq show: all details of one message.

namespace redrive::cli {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

struct DlqShowOptions {
  std::string queue;
  std::string message_id;
  bool unmasked = false;
};

void add_line(Lines& lines, const char* name, std::optional<std::string_view> value) {
  if (value) lines.emplace_back(name, harmless(*value));
}

Lines facts_of(const documents::Message& message) {
  Lines lines;
  add_line(lines, "message id", message.message_id.text());
  if (message.lineage_id != message.message_id) {
    add_line(lines, "first id", message.lineage_id.text());
  }
  add_line(lines, "state", message.state);
  add_line(lines, "visible at", message.visible_at);
  add_line(lines, "sent at", message.sent_at);
  add_line(lines, "expires at", message.expires_at);
  add_line(lines, "first received at", message.first_received_at);
  add_line(lines, "receive count", std::to_string(message.receive_count));
  add_line(lines, "redrives", std::to_string(message.redrives));
  add_line(lines, "failed in", message.dead_letter_source);
  add_line(lines, "first sent to", message.origin);
  add_line(lines, "sender", message.sender_id);
  add_line(lines, "group", message.group_id);
  add_line(lines, "deduplication id", message.deduplication_id);
  add_line(lines, "trace header", message.trace_header);
  return lines;
}

void print_section(Terminal& terminal, std::string_view title, const std::string& text) {
  if (!text.empty()) terminal.out << paint(terminal, Color::bold, title) << "\n" << text;
}

void print_whole(Terminal& terminal, const documents::Message& message) {
  terminal.out << name_value_lines(terminal, facts_of(message));
  print_section(terminal,
                fmt::format("Attempts ({})", message.attempts_total),
                readable_attempts(terminal, message));
  if (const documents::Attempt* telling = telling_attempt(message)) {
    print_section(terminal, "Last error", indented(telling->stack_trace));
    print_section(terminal, "Log of the last attempt", indented(telling->log));
  }
  print_section(terminal, "Attributes", readable_attributes(terminal, message.attributes));
  print_section(terminal, "Body", readable_body(message.body));
}

void print_place(Terminal& terminal, const documents::LineagePlace& place) {
  Lines lines;
  add_line(lines, "message id", place.message_id.text());
  add_line(lines, "state", place.state);
  add_line(lines, "queue", place.queue);
  if (place.key) add_line(lines, "key", std::to_string(*place.key));
  if (!place.archive.empty()) add_line(lines, "archived at", place.archived_at);
  if (!place.archive.empty()) add_line(lines, "archive", place.archive);
  if (!place.restored_at.empty()) add_line(lines, "restored at", place.restored_at);
  if (!place.processed_at.empty()) {
    add_line(lines,
             "processed at",
             fmt::format("{}, after a redrive{}",
                         place.processed_at,
                         place.job.empty() ? "" : fmt::format(" by job {}", place.job)));
  }
  add_line(lines, "redrives", std::to_string(place.redrives));
  if (!place.origin.empty()) add_line(lines, "first sent to", place.origin);
  terminal.out << name_value_lines(terminal, lines);
  const documents::Message told{.attempts_total = place.attempts_total,
                                .attempts = place.attempts,
                                .events = place.events,
                                .failure_group = place.failure_group};
  print_section(terminal,
                fmt::format("Attempts ({})", place.attempts_total),
                readable_attempts(terminal, told));
}

// Finds it anywhere: in another queue, in a bin, in an archive.
Answer<void> show_lineage(const std::string& id, bool unmasked, Session& session) {
  const auto view = TRY(session.service.manage<documents::LineageView>(
      "GET", "lineage/" + percent_encode(id, false) + (unmasked ? "?unmasked=true" : "")));
  if (session.json) {
    session.terminal().out << json_line(*view);
    return {};
  }
  Terminal& terminal = session.terminal();
  terminal.out << paint(terminal, Color::bold, "Lineage " + view->lineage_id.text()) << "\n";
  for (const documents::LineagePlace& place : view->places) {
    terminal.out << "\n";
    print_place(terminal, place);
  }
  return {};
}

Answer<void> run_dlq_show(const DlqShowOptions& options, Session& session) {
  if (options.message_id.empty()) return show_lineage(options.queue, options.unmasked, session);
  auto whole = whole_message_id(session, options.queue, options.message_id);
  if (!whole && whole.error().code == "Ambiguous") return std::unexpected(whole.error());
  // A message no longer in this queue may be found elsewhere by its prefix.
  MessageQuestion question = message_called(options.queue, whole.value_or(options.message_id));
  if (options.unmasked) question.secrets = Secrets::shown;
  const auto show = [&](const documents::Message& message) {
    const MaskedMessage masked(message);
    const documents::Message& shown = options.unmasked ? message : *masked;
    if (session.json) {
      session.terminal().out << json_line(shown);
    } else {
      print_whole(session.terminal(), shown);
    }
    return false;
  };
  if (TRY(for_each_message(session, question, show)) > 0) return {};
  if (show_lineage(options.message_id, options.unmasked, session)) return {};
  return std::unexpected(
      Failure{Failure::Kind::refused,
              "",
              fmt::format("no message {} in {}", options.message_id, options.queue)});
}

}  // namespace

void add_dlq_show(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqShowOptions>();
  Verb verb = parent.verb("show", "Show a message and its history");
  verb.option("QUEUE",
              options->queue,
              "Queue name, URL or ARN; or just a MessageId (or unique prefix), to find the message "
              "anywhere")
      .required();
  verb.option("MESSAGE_ID", options->message_id, "MessageId, current or first, or a unique prefix");
  verb.flag("--unmasked", options->unmasked, "Do not mask values that look like secrets");
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_show(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
