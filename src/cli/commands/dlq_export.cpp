#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "base/calendar.h"
#include "cli/client/message_pages.h"
#include "cli/client/queue_document.h"
#include "cli/commands/commands.h"
#include "cli/commands/send.h"

// redrive dlq export and import: messages as lines of JSON, byte-exact.
//
// A line is the output of `receive --json`, with Redrive's own data under "Redrive": so `send
// --ndjson` accepts it too.

namespace redrive::cli {
namespace {

struct DlqExportOptions {
  MessageQuestion question;
  std::optional<std::string> file;
};

struct LineageDocument {
  Uuid lineage_id;
  std::string_view state;
  std::string_view sent_at;
  std::string_view expires_at;
  std::optional<std::string_view> origin;
  std::int64_t redrives = 0;
  std::int64_t attempts_total = 0;
  std::vector<documents::Attempt> attempts;
};
consteval auto shape_of(LineageDocument*) {
  using Document = LineageDocument;
  return wire::shape(wire::required("lineageId", &Document::lineage_id),
                     wire::required("state", &Document::state),
                     wire::required("sentAt", &Document::sent_at),
                     wire::required("expiresAt", &Document::expires_at),
                     wire::optional("origin", &Document::origin),
                     wire::required("redrives", &Document::redrives),
                     wire::required("attemptsTotal", &Document::attempts_total),
                     wire::optional("attempts", &Document::attempts).each("attempt"));
}

struct ExportDocument {
  Uuid message_id;
  std::string_view body;
  sqs::StringMap attributes;
  sqs::MessageAttributes message_attributes;
  LineageDocument lineage;
};
consteval auto shape_of(ExportDocument*) {
  using Document = ExportDocument;
  return wire::shape(wire::required("MessageId", &Document::message_id),
                     wire::required("Body", &Document::body).content(),
                     wire::optional("Attributes", &Document::attributes).each("Attribute"),
                     wire::optional("MessageAttributes", &Document::message_attributes)
                         .each("Attribute")
                         .content(),
                     wire::required("Redrive", &Document::lineage));
}

std::string milliseconds_of(std::string_view utc) {
  const auto time = parse_utc(utc);
  return time ? std::to_string(time->ms()) : "";
}

std::string export_line(const documents::Message& message) {
  const std::string sent = milliseconds_of(message.sent_at);
  const std::string received = milliseconds_of(message.first_received_at.value_or(""));
  const std::string count = std::to_string(message.receive_count);
  ExportDocument document{.message_id = message.message_id,
                          .body = message.body,
                          .message_attributes = message.attributes,
                          .lineage = {.lineage_id = message.lineage_id,
                                      .state = message.state,
                                      .sent_at = message.sent_at,
                                      .expires_at = message.expires_at,
                                      .origin = message.origin,
                                      .redrives = message.redrives,
                                      .attempts_total = message.attempts_total,
                                      .attempts = message.attempts}};
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) document.attributes.emplace_back(name, value);
  };
  add("SenderId", message.sender_id.value_or(""));
  add("SentTimestamp", sent);
  add("ApproximateReceiveCount", count);
  add("ApproximateFirstReceiveTimestamp", received);
  add("MessageGroupId", message.group_id.value_or(""));
  add("MessageDeduplicationId", message.deduplication_id.value_or(""));
  add("DeadLetterQueueSourceArn", message.dead_letter_source.value_or(""));
  add("AWSTraceHeader", message.trace_header.value_or(""));
  return json_line(document);
}

std::unexpected<Failure> cannot_write(const std::string& file) {
  return std::unexpected(Failure{Failure::Kind::refused, "", fmt::format("cannot write {}", file)});
}

Answer<std::uint64_t> export_to(std::ostream& out, const MessageQuestion& question,
                                Session& session) {
  MessageQuestion exact = question;
  exact.secrets = Secrets::shown;
  return for_each_message(session, exact, [&](const documents::Message& message) {
    out << export_line(message);
    return out.good();
  });
}

// Renamed to its final name only when complete.
Answer<std::uint64_t> export_to_file(const std::string& file, const MessageQuestion& question,
                                     Session& session) {
  const std::string unfinished = file + ".part";
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  const std::uint64_t count = TRY(export_to(out, question, session));
  out.close();
  if (!out || std::rename(unfinished.c_str(), file.c_str()) != 0) return cannot_write(file);
  return count;
}

Answer<void> run_dlq_export(const DlqExportOptions& options, Session& session) {
  const bool to_file = options.file && *options.file != "-";
  const std::uint64_t count =
      TRY(to_file ? export_to_file(*options.file, options.question, session)
                  : export_to(session.terminal().out, options.question, session));
  if (!session.terminal().out.flush()) return cannot_write("standard output");
  session.terminal().err << fmt::format(
      "{} {} exported\n", count, count == 1 ? "message" : "messages");
  return {};
}

struct DlqImportOptions {
  std::string queue;
  std::optional<std::string> file;
  unsigned concurrency = 4;
};

Answer<void> run_dlq_import(const DlqImportOptions& options, Session& session) {
  const SendOptions send{
      .queue = options.queue, .ndjson = true, .concurrency = options.concurrency, .carried = true};
  if (!options.file || *options.file == "-") {
    return send_messages(send, session, session.terminal().in);
  }
  std::ifstream in(*options.file, std::ios::binary);
  if (!in) return usage_failure(fmt::format("cannot read {}", *options.file));
  return send_messages(send, session, in);
}

}  // namespace

void add_dlq_export(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqExportOptions>();
  Verb verb = parent.verb("export", "Export messages as lines of JSON, unmasked");
  verb.option("QUEUE", options->question.queue, "Name, URL or ARN").required();
  verb.option("FILE", options->file, "Output file (default: standard output)");
  verb.option(
      "--filter", options->question.filter, "Only messages that match a filter, as in dlq search");
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_export(*options, session); },
      [options] { return options->question.queue; });
}

void add_dlq_import(Verb parent, Commands& commands) {
  auto options = std::make_shared<DlqImportOptions>();
  Verb verb = parent.verb("import", "Send the messages of an export");
  verb.option("QUEUE", options->queue, "Name, URL or ARN").required();
  verb.option("FILE", options->file, "Input file (default: standard input)");
  verb.option("--concurrency", options->concurrency, "Number of connections (default 4)")
      .range(1, 64);
  commands.attach(
      verb,
      [options](Session& session) { return run_dlq_import(*options, session); },
      [options] { return options->queue; });
}

}  // namespace redrive::cli
