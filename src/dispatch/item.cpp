#include "dispatch/item.h"

#include <fmt/format.h>

#include "base/text.h"

namespace redrive::dispatch {
namespace {

using Message = ReceivedMessages::Message;

std::string hex(const Md5& digest) {
  std::string out(2 * digest.size(), '\0');
  write_hex(out.data(), digest.data(), digest.size());
  return out;
}

std::string id_of(const Message& message) {
  return message.received.message_id.value_or(message.stored.message_id).text();
}

Timestamp sent_of(const Message& message) {
  return message.received.sent_wall == Timestamp() ? message.stored.sent_wall
                                                   : message.received.sent_wall;
}

std::string milliseconds(Timestamp time) {
  return std::to_string(time.ms());
}

// In the order in which AWS writes them; those that a message does not have are left out.
void add_attributes(const Message& message, events::Record& record) {
  const store::MessageContents& contents = message.stored.contents;
  const auto add = [&](std::string_view name, std::string text) {
    if (!text.empty()) record.attributes.emplace_back(name, std::move(text));
  };
  const bool fifo = !contents.dedup.empty();
  add("ApproximateReceiveCount", std::to_string(message.received.receive_count));
  add("AWSTraceHeader", std::string(contents.trace));
  add("SentTimestamp", milliseconds(sent_of(message)));
  if (fifo) {
    add("SequenceNumber",
        fmt::format("{}", 10'000'000'000'000'000'000ull + message.received.sequence));
  }
  add("MessageGroupId", std::string(contents.group));
  add("SenderId", std::string(contents.sender));
  if (fifo) {
    add("MessageDeduplicationId",
        message.received.dedup_is_message_id ? message.stored.message_id.text()
                                             : std::string(contents.dedup));
  }
  add("ApproximateFirstReceiveTimestamp", milliseconds(message.received.first_received_wall));
  add("DeadLetterQueueSourceArn", message.received.dead_letter_source);
}

std::string traceparent_of(const store::MessageContents& contents) {
  std::string found;
  contents.for_each_attribute([&](const store::AttributeView& attribute) {
    if (attribute.name == "traceparent" && !attribute.binary) found = attribute.value;
  });
  return found;
}

}  // namespace

ReceivedMessages::ReceivedMessages(engine::Engine& engine, const engine::ReceiveOutcome& outcome) {
  std::size_t total = 0;
  for (const auto& received : outcome.messages) total += received.body.size;
  bytes_ = std::make_unique_for_overwrite<char[]>(total);
  char* at = bytes_.get();
  const bool all_read = engine.read_bodies(outcome, at).has_value();
  for (const auto& received : outcome.messages) {
    // When reading all has failed, one by one tells which.
    const bool read = all_read || engine.read_body(received.body, at).has_value();
    const auto stored = read ? store::decode_message({at, received.body.size}) : std::nullopt;
    if (stored) messages_.push_back({received, *stored});
    at += received.body.size;
  }
}

events::Record describe_record(const Message& message, std::string handle) {
  const store::MessageContents& contents = message.stored.contents;
  events::Record record;
  record.message_id = id_of(message);
  record.receipt_handle = std::move(handle);
  record.body = contents.body;
  add_attributes(message, record);
  contents.for_each_attribute([&](const store::AttributeView& attribute) {
    record.message_attributes.push_back(
        {attribute.name, attribute.type, attribute.value, attribute.binary});
  });
  record.md5_of_message_attributes = hex(contents.md5_of_attributes);
  record.md5_of_body = hex(contents.md5_of_body);
  return record;
}

Item describe_item(const Message& message, std::string handle, const std::shared_ptr<Hold>& hold) {
  return {.handle = std::move(handle),
          .message_id = id_of(message),
          .record = {},
          .group = std::string(message.stored.contents.group),
          .trace = std::string(message.stored.contents.trace),
          .traceparent = traceparent_of(message.stored.contents),
          .lineage = message.stored.message_id,
          .redriven = message.received.message_id.has_value(),
          .sent_wall = sent_of(message),
          .received_at = hold->received_at(),
          .receive_count = message.received.receive_count,
          .retries = message.received.retries,
          .hold = hold};
}

}  // namespace redrive::dispatch
