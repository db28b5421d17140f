#include "server/tracing.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>

#include "base/clock.h"
#include "base/text.h"
#include "store/message_codec.h"

namespace redrive::server {
namespace {

using traces::Span;

constexpr std::string_view kDeadLettered = "message dead-lettered";
constexpr std::string_view kRedriven = "message redriven";

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

// What is to be told of one message.
struct Tracing::Happening {
  traces::Origin origin;
  std::string name;
  Span::Kind kind = Span::Kind::internal;
  Timestamp start_wall;
  Timestamp end_wall;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string error;
};

Tracing::Tracing(std::string endpoint, engine::Engine& engine)
    : engine_(engine), exporter_({.endpoint = std::move(endpoint), .log = [](std::string line) {
                                    spdlog::warn("{}", line);
                                  }}) {}

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

// The first receive also tells of the send, whose span the others stand under.
void Tracing::received(const queue::QueueIdentity& queue, const engine::ReceiveOutcome& outcome) {
  const Timestamp now = wall_now();
  std::string bytes;
  for (const engine::Received& received : outcome.messages) {
    bytes.resize(received.body.size);
    if (!engine_.read_body(received.body, bytes.data())) continue;
    const auto stored = store::decode_message(bytes);
    if (!stored) continue;
    const traces::Origin origin = origin_of(*stored);
    const traces::Place place = traces::place_of(origin);
    const std::string message = stored->message_id.text();
    if (received.receive_count == 1 && received.dead_letter_source.empty()) {
      exporter_.add({.trace = place.trace,
                     .id = place.send,
                     .parent = place.before,
                     .link = {},
                     .kind = Span::Kind::producer,
                     .name = queue.name + " send",
                     .start_wall = stored->sent_wall,
                     .end_wall = stored->sent_wall,
                     .attributes = {{"messaging.system", "aws_sqs"},
                                    {"messaging.destination.name", queue.name},
                                    {"messaging.message.id", message}},
                     .error = {}});
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
    Happening happening{
        .origin = {.lineage = item.lineage, .xray = item.trace, .traceparent = item.traceparent},
        .name = fmt::format("{} run", report.function),
        .kind = Span::Kind::consumer,
        .start_wall = end - taken,
        .end_wall = end,
        .attributes = {{"messaging.system", "aws_sqs"},
                       {"messaging.operation.type", "process"},
                       {"messaging.destination.name", report.queue.name},
                       {"messaging.message.id", item.message_id},
                       {"faas.name", std::string(report.function)},
                       {"faas.invocation_id", std::string(report.request_id)},
                       {"redrive.receive_count", std::to_string(item.receive_count)}},
        .error = {}};
    if (report.outcome.kind != Kind::done) {
      happening.error = report.outcome.error_type.empty() ? "the function did not run"
                                                          : report.outcome.error_type;
    }
    add(happening);
  }
}

void Tracing::noticed(const engine::Notice& notice) {
  if (notice.event != kDeadLettered && notice.event != kRedriven) return;
  exporter_.add_later(
      [this, notice, wall = wall_now()](traces::Exporter&) { look_up(notice, wall); });
}

// It may have gone on by now: then it is not told of.
void Tracing::look_up(const engine::Notice& notice, Timestamp wall) {
  const queue::MessageKey key{parse_int<std::uint64_t>(field_of(notice, "message")).value_or(0)};
  const auto place = engine_.turn([&](engine::Turn& turn) -> std::optional<queue::QueueIdentity> {
    const queue::State& state = turn.state();
    const queue::Slot slot = state.messages().find(key);
    const queue::Queue* queue = slot == queue::kNoSlot ? nullptr : state.find(state.queue_of(slot));
    if (queue == nullptr) return std::nullopt;
    return queue->identity;
  });
  if (!place) return;
  const auto page = engine_.peek_one(*place, key);
  if (!page || page->messages.empty()) return;
  const queue::BodyRef& body = page->messages.front().body;
  std::string bytes(body.size, '\0');
  if (!engine_.read_body(body, bytes.data())) return;
  const auto stored = store::decode_message(bytes);
  if (!stored) return;
  const bool dead = notice.event == kDeadLettered;
  add({.origin = origin_of(*stored),
       .name = fmt::format("{} {}", field_of(notice, "queue"), dead ? "dead-letter" : "redrive"),
       .kind = Span::Kind::internal,
       .start_wall = wall,
       .end_wall = wall,
       .attributes = {{"messaging.system", "aws_sqs"},
                      {"messaging.destination.name", std::string(field_of(notice, "queue"))},
                      {"messaging.message.id", stored->message_id.text()},
                      {"redrive.from", std::string(field_of(notice, "from"))}},
       .error = dead ? "dead-lettered" : ""});
}

}  // namespace redrive::server
