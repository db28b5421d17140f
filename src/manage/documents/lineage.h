#pragma once

#include "manage/documents/message_page.h"

// Messages by lineage; archiving and restoring.

namespace redrive::documents {

// Where a message of a lineage is or was archived, and its history.
struct LineagePlace {
  std::string_view state;  // in-queue, in-bin, damaged, archived, restored: archived once, and back
                           // since; processed: deleted by a consumer after a redrive
  // The ARN of the queue it is in, was discarded from, archived from or processed in.
  std::string_view queue;
  Uuid message_id;
  std::optional<std::int64_t> key;  // While it is in a queue or a bin.
  std::string_view archive;         // s3://bucket/key or file:///directory/key
  std::string_view archived_at;
  std::string_view restored_at;
  std::string_view processed_at;
  std::string_view
      job;  // That redrove it before it was processed; empty: none, or no longer known.
  std::string_view origin;
  std::int64_t redrives = 0;
  std::int64_t attempts_total = 0;
  std::string_view failure_group;
  std::vector<Attempt> attempts;
  std::vector<Event> events;
};
consteval auto shape_of(LineagePlace*) {
  using Out = LineagePlace;
  return wire::shape(wire::required("state", &Out::state),
                     wire::required("queue", &Out::queue),
                     wire::required("messageId", &Out::message_id),
                     wire::optional("key", &Out::key),
                     wire::optional("archive", &Out::archive),
                     wire::optional("archivedAt", &Out::archived_at),
                     wire::optional("restoredAt", &Out::restored_at),
                     wire::optional("processedAt", &Out::processed_at),
                     wire::optional("job", &Out::job),
                     wire::optional("origin", &Out::origin),
                     wire::required("redrives", &Out::redrives),
                     wire::required("attemptsTotal", &Out::attempts_total),
                     wire::optional("failureGroup", &Out::failure_group),
                     wire::optional("attempts", &Out::attempts).each("attempt"),
                     wire::optional("events", &Out::events).each("event"));
}

struct LineageView {
  Uuid lineage_id;
  std::vector<LineagePlace> places;
};
consteval auto shape_of(LineageView*) {
  return wire::shape(wire::required("lineageId", &LineageView::lineage_id),
                     wire::optional("places", &LineageView::places).each("place").always());
}

inline constexpr std::size_t kHandlesMax = 100;  // In one request.

struct HandleList {
  std::vector<std::string_view> receipt_handles;
};
consteval auto shape_of(HandleList*) {
  return wire::shape(wire::optional("receiptHandles", &HandleList::receipt_handles).each("handle"));
}

// Either a lineage or what was wrong.
struct HeldLineage {
  std::optional<Lineage> lineage;
  std::string_view code;
  std::string_view message;
};
consteval auto shape_of(HeldLineage*) {
  return wire::shape(wire::optional("lineage", &HeldLineage::lineage),
                     wire::optional("code", &HeldLineage::code),
                     wire::optional("message", &HeldLineage::message));
}

struct HeldLineages {
  std::vector<HeldLineage> messages;  // In the order of the handles.
  std::optional<bool> masked;         // As in MessagePage.
};
consteval auto shape_of(HeldLineages*) {
  return wire::shape(wire::optional("messages", &HeldLineages::messages).each("message").always(),
                     wire::optional("masked", &HeldLineages::masked));
}

// A message that its consumer has archived.
struct ArchivedMessage {
  std::string_view receipt_handle;
  std::string_view place;
};
consteval auto shape_of(ArchivedMessage*) {
  return wire::shape(wire::required("receiptHandle", &ArchivedMessage::receipt_handle),
                     wire::required("place", &ArchivedMessage::place));
}

struct ArchivedRequest {
  std::vector<ArchivedMessage> messages;
  std::string_view reason;
};
consteval auto shape_of(ArchivedRequest*) {
  return wire::shape(wire::optional("messages", &ArchivedRequest::messages).each("message"),
                     wire::optional("reason", &ArchivedRequest::reason));
}

struct ArchivedResult {
  bool archived = false;  // It has left its queue.
  std::string_view code;
  std::string_view message;
};
consteval auto shape_of(ArchivedResult*) {
  return wire::shape(wire::required("archived", &ArchivedResult::archived),
                     wire::optional("code", &ArchivedResult::code),
                     wire::optional("message", &ArchivedResult::message));
}

struct ArchivedResults {
  std::vector<ArchivedResult> results;  // In the order of the messages.
};
consteval auto shape_of(ArchivedResults*) {
  return wire::shape(wire::optional("results", &ArchivedResults::results).each("result").always());
}

inline constexpr std::size_t kUnarchivedMax = 10;  // In one request.

// A message to restore from an archive.
struct UnarchiveMessage {
  std::string_view body;
  sqs::MessageAttributes attributes;
  std::optional<std::string_view> group_id;
  std::optional<std::string_view> deduplication_id;
  std::optional<std::string_view> trace_header;
  std::optional<Uuid> archived_as;  // The MessageId it had when it was archived.
  Lineage lineage;                  // As its document has it.
};
consteval auto shape_of(UnarchiveMessage*) {
  using In = UnarchiveMessage;
  return wire::shape(wire::required("body", &In::body).content(),
                     wire::optional("attributes", &In::attributes).each("attribute").content(),
                     wire::optional("groupId", &In::group_id),
                     wire::optional("deduplicationId", &In::deduplication_id),
                     wire::optional("traceHeader", &In::trace_header),
                     wire::optional("archivedAs", &In::archived_as),
                     wire::required("lineage", &In::lineage));
}

struct UnarchiveRequest {
  std::vector<UnarchiveMessage> messages;
  std::string_view reason;
  std::optional<bool> again;       // Also restore messages that were restored before.
  std::optional<bool> keep_count;  // Keep the count of its redrives; otherwise it starts from zero.
};
consteval auto shape_of(UnarchiveRequest*) {
  using In = UnarchiveRequest;
  return wire::shape(wire::optional("messages", &In::messages).each("message"),
                     wire::optional("reason", &In::reason),
                     wire::optional("again", &In::again),
                     wire::optional("keepCount", &In::keep_count));
}

struct UnarchiveResult {
  std::optional<Uuid> message_id;
  bool before = false;  // It was restored before: nothing was done.
  std::string_view code;
  std::string_view message;
};
consteval auto shape_of(UnarchiveResult*) {
  using Out = UnarchiveResult;
  return wire::shape(wire::optional("messageId", &Out::message_id),
                     wire::required("before", &Out::before),
                     wire::optional("code", &Out::code),
                     wire::optional("message", &Out::message));
}

struct UnarchiveResults {
  std::vector<UnarchiveResult> results;  // In the order of the messages.
};
consteval auto shape_of(UnarchiveResults*) {
  return wire::shape(wire::optional("results", &UnarchiveResults::results).each("result").always());
}

}  // namespace redrive::documents
