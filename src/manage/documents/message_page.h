#pragma once

#include "aws/sqs/model/types.h"

// Messages as the management API shows them without receiving them. Shared by server and CLI.

namespace redrive::documents {

// One delivery to a consumer.
struct Attempt {
  std::string_view received_at;
  std::optional<std::string_view> by;       // The consumer, if known.
  std::optional<std::int64_t> duration_ms;  // Until it ended.
  std::string_view end;                     // open, released, visibility-expired, failed
  std::string_view error_type;              // What the consumer reported.
  std::string_view error_message;
  std::string_view stack_trace;
  std::string_view log;  // The end of the handler's log.
  // The number of messages in the batch that failed as a whole, if there were several.
  std::optional<std::int64_t> company;
  std::optional<bool> shared;  // The error is that of the batch.
  // More about the consumer. Empty or absent: unknown.
  std::string_view code;         // A function's code, by its first digits; a client's app id.
  std::string_view version;      // The published version of a function.
  std::string_view deployed_at;  // When that code was deployed, or seen first.
  std::string_view interpreter;  // python3.11.2
  std::string_view agent;        // The client's SDK.

  bool operator==(const Attempt&) const = default;
};
consteval auto shape_of(Attempt*) {
  return wire::shape(wire::required("receivedAt", &Attempt::received_at),
                     wire::optional("by", &Attempt::by),
                     wire::optional("durationMs", &Attempt::duration_ms),
                     wire::required("end", &Attempt::end),
                     wire::optional("errorType", &Attempt::error_type).sensitive(),
                     wire::optional("errorMessage", &Attempt::error_message).sensitive(),
                     wire::optional("stackTrace", &Attempt::stack_trace).sensitive(),
                     wire::optional("log", &Attempt::log).sensitive(),
                     wire::optional("company", &Attempt::company),
                     wire::optional("shared", &Attempt::shared),
                     wire::optional("code", &Attempt::code),
                     wire::optional("version", &Attempt::version),
                     wire::optional("deployedAt", &Attempt::deployed_at),
                     wire::optional("interpreter", &Attempt::interpreter),
                     wire::optional("agent", &Attempt::agent));
}

// What happened to a message other than deliveries.
struct Event {
  std::string_view at;
  std::string_view what;  // dead-lettered, redriven, edited, discarded, restored
  std::string_view from;  // The ARN of the queue it was in.
  std::string_view why;   // Of dead letters: receive-count, reported.
  std::string_view actor;
  std::string_view reason;
  std::string_view job;

  bool operator==(const Event&) const = default;
};
consteval auto shape_of(Event*) {
  return wire::shape(wire::required("at", &Event::at),
                     wire::required("what", &Event::what),
                     wire::optional("from", &Event::from),
                     wire::optional("why", &Event::why),
                     wire::optional("actor", &Event::actor),
                     wire::optional("reason", &Event::reason).sensitive(),
                     wire::optional("job", &Event::job));
}

// The history of a message when it was archived.
struct Lineage {
  Uuid lineage_id;
  std::string_view origin;
  std::int64_t redrives = 0;
  std::int64_t attempts_total = 0;
  std::string_view failure_group;
  std::vector<Attempt> attempts;
  std::vector<Event> events;
};
consteval auto shape_of(Lineage*) {
  return wire::shape(wire::required("lineageId", &Lineage::lineage_id),
                     wire::optional("origin", &Lineage::origin),
                     wire::required("redrives", &Lineage::redrives),
                     wire::required("attemptsTotal", &Lineage::attempts_total),
                     wire::optional("failureGroup", &Lineage::failure_group),
                     wire::optional("attempts", &Lineage::attempts).each("attempt"),
                     wire::optional("events", &Lineage::events).each("event"));
}

struct Message {
  std::int64_t key = 0;  // Its name inside the server, the same through every move.
  Uuid message_id;
  Uuid lineage_id;         // The MessageId of the first send: the same through every redrive.
  std::string_view state;  // visible, in-flight, delayed
  std::optional<std::string_view> visible_at;  // While it is not visible.
  std::string_view sent_at;
  std::string_view expires_at;  // When its retention ends.
  std::int64_t receive_count = 0;
  std::optional<std::string_view> first_received_at;
  std::optional<std::string_view> sender_id;
  std::optional<std::string_view> group_id;
  std::optional<std::string_view> deduplication_id;
  std::optional<std::string_view> trace_header;        // AWSTraceHeader.
  std::optional<std::string_view> dead_letter_source;  // The ARN it came from, in a DLQ.
  std::optional<std::string_view> origin;              // The ARN it was first sent to.
  std::int64_t redrives = 0;
  std::int64_t attempts_total = 0;
  std::vector<Attempt> attempts;  // The first three and the last twenty.
  std::vector<Event> events;      // The same.
  std::string_view failure_group;
  bool failed_again = false;  // After a redrive, for the same reason as before.
  bool parked = false;        // It has had as many redrives as the queue's policy allows.
  sqs::MessageAttributes attributes;
  std::string_view body;

  bool operator==(const Message&) const = default;
};
consteval auto shape_of(Message*) {
  return wire::shape(wire::required("key", &Message::key),
                     wire::required("messageId", &Message::message_id),
                     wire::required("lineageId", &Message::lineage_id),
                     wire::required("state", &Message::state),
                     wire::optional("visibleAt", &Message::visible_at),
                     wire::required("sentAt", &Message::sent_at),
                     wire::required("expiresAt", &Message::expires_at),
                     wire::required("receiveCount", &Message::receive_count),
                     wire::optional("firstReceivedAt", &Message::first_received_at),
                     wire::optional("senderId", &Message::sender_id),
                     wire::optional("groupId", &Message::group_id).sensitive(),
                     wire::optional("deduplicationId", &Message::deduplication_id).sensitive(),
                     wire::optional("traceHeader", &Message::trace_header).sensitive(),
                     wire::optional("deadLetterSource", &Message::dead_letter_source),
                     wire::optional("origin", &Message::origin),
                     wire::required("redrives", &Message::redrives),
                     wire::required("attemptsTotal", &Message::attempts_total),
                     wire::optional("attempts", &Message::attempts).each("attempt"),
                     wire::optional("events", &Message::events).each("event"),
                     wire::optional("failureGroup", &Message::failure_group),
                     wire::required("failedAgain", &Message::failed_again),
                     wire::required("parked", &Message::parked),
                     wire::optional("attributes", &Message::attributes).each("attribute"),
                     wire::required("body", &Message::body).sensitive());
}

struct MessagePage {
  std::vector<Message> messages;
  std::optional<std::string_view> next;  // For the page after this one; absent on the last.
  std::optional<std::string_view> now;   // The server's time, for computing ages.
  // With a filter, a state or a group: how many were examined for this page.
  std::optional<std::int64_t> scanned;
  // How many there are in all; with a filter, how many it chooses from.
  std::optional<std::int64_t> total;
  std::optional<bool> masked;  // Whether secrets are masked; added by the server.

  bool operator==(const MessagePage&) const = default;
};
consteval auto shape_of(MessagePage*) {
  return wire::shape(wire::optional("messages", &MessagePage::messages).each("message"),
                     wire::optional("next", &MessagePage::next),
                     wire::optional("now", &MessagePage::now),
                     wire::optional("scanned", &MessagePage::scanned),
                     wire::optional("total", &MessagePage::total),
                     wire::optional("masked", &MessagePage::masked));
}

// A message in a list: without its body, attributes and history.
struct MessageSummary {
  std::int64_t key = 0;
  Uuid message_id;
  Uuid lineage_id;
  std::string_view state;
  std::optional<std::string_view> visible_at;
  std::string_view sent_at;
  std::string_view expires_at;
  std::int64_t receive_count = 0;
  std::optional<std::string_view> dead_letter_source;
  std::int64_t redrives = 0;
  std::int64_t attempts_total = 0;
  std::string_view failure_group;
  bool failed_again = false;
  bool parked = false;
  std::string_view preview;     // The first bytes of the body.
  std::int64_t size = 0;        // Of the body, in bytes.
  std::string_view error_type;  // Of the last attempt that reported one.
  std::string_view error_message;
  std::optional<std::string_view> dead_at;  // When it last became a dead letter.
};
consteval auto shape_of(MessageSummary*) {
  using Out = MessageSummary;
  return wire::shape(wire::required("key", &Out::key),
                     wire::required("messageId", &Out::message_id),
                     wire::required("lineageId", &Out::lineage_id),
                     wire::required("state", &Out::state),
                     wire::optional("visibleAt", &Out::visible_at),
                     wire::required("sentAt", &Out::sent_at),
                     wire::required("expiresAt", &Out::expires_at),
                     wire::required("receiveCount", &Out::receive_count),
                     wire::optional("deadLetterSource", &Out::dead_letter_source),
                     wire::required("redrives", &Out::redrives),
                     wire::required("attemptsTotal", &Out::attempts_total),
                     wire::optional("failureGroup", &Out::failure_group),
                     wire::required("failedAgain", &Out::failed_again),
                     wire::required("parked", &Out::parked),
                     wire::required("preview", &Out::preview).sensitive(),
                     wire::required("size", &Out::size),
                     wire::optional("errorType", &Out::error_type).sensitive(),
                     wire::optional("errorMessage", &Out::error_message).sensitive(),
                     wire::optional("deadAt", &Out::dead_at));
}

struct MessageSummaryPage {
  std::vector<MessageSummary> messages;
  std::int64_t total = 0;
  std::optional<std::string_view> next;
  std::optional<std::string_view> now;
  std::optional<std::int64_t> scanned;
};
consteval auto shape_of(MessageSummaryPage*) {
  using Out = MessageSummaryPage;
  return wire::shape(wire::optional("messages", &Out::messages).each("message").always(),
                     wire::required("total", &Out::total),
                     wire::optional("next", &Out::next),
                     wire::optional("now", &Out::now),
                     wire::optional("scanned", &Out::scanned));
}

// A receipt handle of no existing message.
struct SpentHandle {
  std::string_view receipt_handle;
};
consteval auto shape_of(SpentHandle*) {
  return wire::shape(wire::required("receiptHandle", &SpentHandle::receipt_handle));
}

}  // namespace redrive::documents
