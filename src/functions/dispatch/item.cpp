#include "functions/dispatch/item.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/text.h"

namespace redrive::dispatch {
namespace {

using Message = ReceivedMessages::Message;

template <std::size_t kSize>
std::string_view write_digest(std::array<char, kSize>& out, const Md5& digest) {
  static_assert(kSize == 2 * std::tuple_size_v<Md5>);
  write_hex(out.data(), digest.data(), digest.size());
  return {out.data(), out.size()};
}

std::string_view write_id(std::array<char, 36>& out, const Uuid& id) {
  id.format(out.data());
  return {out.data(), out.size()};
}

Uuid id_of(const Message& message) {
  return message.received.message_id.value_or(message.stored.message_id);
}

Timestamp sent_of(const Message& message) {
  return message.received.sent_wall == Timestamp() ? message.stored.sent_wall
                                                   : message.received.sent_wall;
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
  for (const auto& received : outcome.messages) size_ += received.body.size;
  bytes_ = std::make_unique_for_overwrite<char[]>(size_);
  messages_.reserve(outcome.messages.size());
  char* at = bytes_.get();
  const bool all_read = engine.read_bodies(outcome, at).has_value();
  for (const auto& received : outcome.messages) {
    auto stored = all_read ? store::decode_message({at, received.body.size}) : std::nullopt;
    at += received.body.size;
    if (!stored || stored->key != received.handle.key) {
      std::string& bytes = *reread_.emplace_back(std::make_unique<std::string>());
      const auto again = engine.read_message(received, bytes);
      stored = again ? std::optional(*again) : std::nullopt;
    }
    if (stored) messages_.push_back({received, *stored});
  }
}

const events::Record& RecordMaker::describe(const Message& message, std::string_view handle) {
  const store::MessageContents& contents = message.stored.contents;
  record_.message_id = write_id(texts_.message_id, id_of(message));
  record_.receipt_handle = handle;
  record_.body = contents.body;
  add_attributes(message);
  record_.message_attributes.clear();
  contents.for_each_attribute([&](const store::AttributeView& attribute) {
    record_.message_attributes.push_back(
        {attribute.name, attribute.type, attribute.value, attribute.binary});
  });
  if (contents.attribute_count > 0) {
    record_.md5_of_message_attributes =
        write_digest(texts_.md5_of_message_attributes, contents.md5_of_attributes);
  }
  record_.md5_of_body = write_digest(texts_.md5_of_body, contents.md5_of_body);
  return record_;
}

void RecordMaker::add(std::string_view name, std::string_view text) {
  if (!text.empty()) record_.attributes.emplace_back(name, text);
}

template <class Int>
void RecordMaker::add_number(std::string_view name, Int value) {
  const fmt::format_int text(value);
  assert(numbers_end_ + text.size() <= texts_.numbers.data() + texts_.numbers.size());
  std::memcpy(numbers_end_, text.data(), text.size());
  record_.attributes.emplace_back(name, std::string_view(numbers_end_, text.size()));
  numbers_end_ += text.size();
}

// In AWS's order; attributes that a message does not have are omitted.
void RecordMaker::add_attributes(const Message& message) {
  const store::MessageContents& contents = message.stored.contents;
  const engine::Received& received = message.received;
  const bool fifo = !contents.dedup.empty();
  record_.attributes.clear();
  numbers_end_ = texts_.numbers.data();
  add_number("ApproximateReceiveCount", received.receive_count);
  add("AWSTraceHeader", contents.trace);
  add_number("SentTimestamp", sent_of(message).ms());
  if (fifo) add_number("SequenceNumber", 10'000'000'000'000'000'000ull + received.sequence);
  add("MessageGroupId", contents.group);
  add("SenderId", contents.sender);
  if (fifo) {
    add("MessageDeduplicationId",
        received.dedup_is_message_id ? write_id(texts_.dedup_id, message.stored.message_id)
                                     : contents.dedup);
  }
  add_number("ApproximateFirstReceiveTimestamp", received.first_received_wall.ms());
  add("DeadLetterQueueSourceArn", received.dead_letter_source);
}

// The items may come from several receives; calls each Hold once.
std::vector<queue::ReceiptHandle> forget(std::span<const Item> items) {
  std::vector<queue::ReceiptHandle> receipts;
  receipts.reserve(items.size());
  for (auto begin = items.begin(); begin != items.end();) {
    const auto end = std::find_if(
        begin, items.end(), [&](const Item& item) { return item.hold != begin->hold; });
    const std::size_t before = receipts.size();
    for (auto item = begin; item != end; ++item) receipts.push_back(item->receipt);
    begin->hold->forget(std::span(receipts).subspan(before));
    begin = end;
  }
  return receipts;
}

Item describe_item(const Message& message, const queue::ReceiptHandle::Secret& secret,
                   const std::shared_ptr<Hold>& hold) {
  return {.receipt = message.received.handle,
          .handle = message.received.handle.text(secret),
          .message_id = id_of(message),
          .record_at = 0,
          .record_size = 0,
          .group = std::string(message.stored.contents.group),
          .trace = std::string(message.stored.contents.trace),
          .traceparent = traceparent_of(message.stored.contents),
          .lineage = message.stored.message_id,
          .redriven = message.received.message_id.has_value(),
          .sent_wall = sent_of(message),
          .received_at = hold->received_at(),
          .receive_count = message.received.receive_count,
          .retries = message.received.retries,
          .isolation = message.received.isolation,
          .hold = hold};
}

}  // namespace redrive::dispatch
