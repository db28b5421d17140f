#include "app/tracing.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>

#include "base/clock.h"
#include "base/text.h"
#include "core/store/message_codec.h"

namespace redrive::app {
namespace {

using traces::Span;

constexpr std::string_view kDeadLettered = "message dead-lettered";

Timestamp wall_now() {
  return SystemClock().wall();
}

traces::Origin origin_of(const store::StoredMessage& stored) {
  traces::Origin origin{
      .lineage = stored.message_id, .xray = std::string(stored.contents.trace), .traceparent = {}};
  stored.contents.for_each_attribute([&](const store::AttributeView& attribute) {
    if (attribute.name == "traceparent" && !attribute.binary) origin.traceparent = attribute.value;
  });
  return origin;
}

std::string_view field_of(const engine::Notice& notice, std::string_view name) {
  for (const auto& [key, value] : notice.fields) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace

// An event of one message.
struct Tracing::Happening {
  traces::Origin origin;
  std::string name;
  Span::Kind kind = Span::Kind::internal;
  Timestamp start_wall;
  Timestamp end_wall;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string error;
};

// How a message arrived in a queue.
struct Tracing::Arrival {
  traces::Origin origin;
  std::string queue;
  std::string message_id;
  bool redriven = false;  // Otherwise sent.
  Timestamp wall;
};

Tracing::Tracing(std::string endpoint, engine::Engine& engine,
                 dead_letters::DeadLetters& dead_letters)
    : engine_(engine),
      dead_letters_(dead_letters),
      exporter_({.endpoint = std::move(endpoint),
                 .log = [](std::string line) { spdlog::warn("{}", line); }}) {}

traces::SpanId Tracing::new_id() {
  thread_local RandomIds ids;
  const std::uint64_t bits = ids.bits() | 1;  // Zero is no id.
  traces::SpanId id;
  std::memcpy(id.data(), &bits, sizeof bits);
  return id;
}

void Tracing::add(const Happening& happening) {
  const traces::Place place = traces::place_of(happening.origin);
  exporter_.add({.trace = place.trace,
                 .id = new_id(),
                 .parent = place.send,
                 .link = place.send,
                 .kind = happening.kind,
                 .name = happening.name,
                 .start_wall = happening.start_wall,
                 .end_wall = happening.end_wall,
                 .attributes = happening.attributes,
                 .error = happening.error});
}

// The first receive also exports how the message arrived in its queue: by the send, whose span is
// the parent of all others, or by a redrive, which gave it a new MessageId.
void Tracing::tell_arrival(const Arrival& arrival) {
  const traces::Place place = traces::place_of(arrival.origin);
  const std::string& queue = arrival.queue;
  const bool redriven = arrival.redriven;
  exporter_.add({.trace = place.trace,
                 .id = redriven ? new_id() : place.send,
                 .parent = redriven ? place.send : place.before,
                 .link = redriven ? std::optional(place.send) : std::nullopt,
                 .kind = Span::Kind::producer,
                 .name = queue + (redriven ? " redrive" : " send"),
                 .start_wall = arrival.wall,
                 .end_wall = arrival.wall,
                 .attributes = {{"messaging.system", "aws_sqs"},
                                {"messaging.destination.name", queue},
                                {"messaging.message.id", arrival.message_id}},
                 .error = {}});
}

void Tracing::received(const queue::QueueIdentity& queue, const engine::ReceiveOutcome& outcome) {
  const Timestamp now = wall_now();
  std::string bytes;
  for (const engine::Received& received : outcome.messages) {
    bytes.resize(received.body.size);
    if (!engine_.read_body(received.body, bytes.data())) continue;
    const auto stored = store::decode_message(bytes);
    if (!stored) continue;
    const traces::Origin origin = origin_of(*stored);
    const std::string message = received.message_id.value_or(stored->message_id).text();
    if (received.receive_count == 1) {
      const bool anew = received.sent_wall != Timestamp();
      tell_arrival({.origin = origin,
                    .queue = queue.name,
                    .message_id = message,
                    .redriven = received.message_id.has_value(),
                    .wall = anew ? received.sent_wall : stored->sent_wall});
    }
    add({.origin = origin,
         .name = queue.name + " receive",
         .kind = Span::Kind::consumer,
         .start_wall = now,
         .end_wall = now,
         .attributes = {{"messaging.system", "aws_sqs"},
                        {"messaging.operation.type", "receive"},
                        {"messaging.destination.name", queue.name},
                        {"messaging.message.id", message},
                        {"redrive.receive_count", std::to_string(received.receive_count)}},
         .error = {}});
  }
}

void Tracing::ran(const dispatch::RunReport& report) {
  using Kind = runtime::Outcome::Kind;
  const Timestamp end = wall_now();
  const auto taken = std::chrono::duration_cast<Duration>(report.outcome.duration);
  for (const dispatch::Item& item : report.items) {
    const std::string message_id = item.message_id.text();
    Happening happening{
        .origin = {.lineage = item.lineage, .xray = item.trace, .traceparent = item.traceparent},
        .name = fmt::format("{} run", report.function),
        .kind = Span::Kind::consumer,
        .start_wall = end - taken,
        .end_wall = end,
        .attributes = {{"messaging.system", "aws_sqs"},
                       {"messaging.operation.type", "process"},
                       {"messaging.destination.name", report.queue.name},
                       {"messaging.message.id", message_id},
                       {"faas.name", std::string(report.function)},
                       {"faas.invocation_id", std::string(report.request_id)},
                       {"redrive.receive_count", std::to_string(item.receive_count)}},
        .error = {}};
    if (report.outcome.kind != Kind::done) {
      const std::string& type = report.outcome.error_type;
      happening.error = type.empty() ? "the function did not run" : type;
    }
    if (item.receive_count == 1) {
      tell_arrival({.origin = happening.origin,
                    .queue = report.queue.name,
                    .message_id = message_id,
                    .redriven = item.redriven,
                    .wall = item.sent_wall});
    }
    add(happening);
  }
}

void Tracing::noticed(const engine::Notice& notice) {
  if (notice.event != kDeadLettered) return;
  exporter_.add_later(
      [this, notice, wall = wall_now()](traces::Exporter&) { look_up(notice, wall); });
}

// It may have been redriven by now, and even processed: it is looked up wherever it is. Only one
// that was deleted from the dead-letter queue in the meantime has no span.
void Tracing::look_up(const engine::Notice& notice, Timestamp wall) {
  const queue::MessageKey key{parse_int<std::uint64_t>(field_of(notice, "message")).value_or(0)};
  const dead_letters::PeekPage page = dead_letters_.peek.by_key(key);
  if (page.messages.empty()) return;
  const queue::BodyRef& body = page.messages.front().body;
  std::string bytes(body.size, '\0');
  if (!engine_.read_body(body, bytes.data())) return;
  const auto stored = store::decode_message(bytes);
  if (!stored) return;
  const std::string queue(field_of(notice, "queue"));
  add({.origin = origin_of(*stored),
       .name = queue + " dead-letter",
       .kind = Span::Kind::internal,
       .start_wall = wall,
       .end_wall = wall,
       .attributes = {{"messaging.system", "aws_sqs"},
                      {"messaging.destination.name", queue},
                      {"messaging.message.id", stored->message_id.text()},
                      {"redrive.from", std::string(field_of(notice, "from"))}},
       .error = "dead-lettered"});
}

}  // namespace redrive::app
