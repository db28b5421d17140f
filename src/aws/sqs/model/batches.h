#pragma once

#include "aws/sqs/model/types.h"

// Up to ten messages in one request.
//
// An entry that lacks something or leaves a range fails alone, so entries are decoded leniently and
// only the id is required. Entries themselves are not: a batch without any has an error of its own.

namespace redrive::sqs {

struct SendMessageBatchEntry {
  std::string_view id;
  std::optional<std::string_view> message_body;
  std::optional<std::int32_t> delay_seconds;
  MessageAttributes message_attributes;
  MessageAttributes message_system_attributes;
  std::optional<std::string_view> message_deduplication_id;
  std::optional<std::string_view> message_group_id;

  bool operator==(const SendMessageBatchEntry&) const = default;
};
consteval auto shape_of(SendMessageBatchEntry*) {
  using Entry = SendMessageBatchEntry;
  return wire::shape(wire::required("Id", &Entry::id),
                     wire::optional("MessageBody", &Entry::message_body).content(),
                     wire::optional("DelaySeconds", &Entry::delay_seconds),
                     wire::optional("MessageAttributes", &Entry::message_attributes)
                         .each("MessageAttribute")
                         .content(),
                     wire::optional("MessageSystemAttributes", &Entry::message_system_attributes)
                         .each("MessageSystemAttribute")
                         .content(),
                     wire::optional("MessageDeduplicationId", &Entry::message_deduplication_id),
                     wire::optional("MessageGroupId", &Entry::message_group_id));
}

struct SendMessageBatchInput {
  std::string_view queue_url;
  std::vector<SendMessageBatchEntry> entries;

  bool operator==(const SendMessageBatchInput&) const = default;
};
consteval auto shape_of(SendMessageBatchInput*) {
  using In = SendMessageBatchInput;
  return wire::shape(queue_url(&In::queue_url),
                     wire::optional("Entries", &In::entries).each("SendMessageBatchRequestEntry"));
}

struct SendMessageBatchResultEntry {
  std::string_view id;
  Uuid message_id;
  Md5 md5_of_message_body{};
  std::optional<Md5> md5_of_message_attributes;
  std::optional<Md5> md5_of_message_system_attributes;
  std::optional<std::string_view> sequence_number;

  bool operator==(const SendMessageBatchResultEntry&) const = default;
};
consteval auto shape_of(SendMessageBatchResultEntry*) {
  using Entry = SendMessageBatchResultEntry;
  return wire::shape(
      wire::required("Id", &Entry::id),
      wire::required("MessageId", &Entry::message_id),
      wire::required("MD5OfMessageBody", &Entry::md5_of_message_body),
      wire::optional("MD5OfMessageAttributes", &Entry::md5_of_message_attributes),
      wire::optional("MD5OfMessageSystemAttributes", &Entry::md5_of_message_system_attributes),
      wire::optional("SequenceNumber", &Entry::sequence_number));
}

struct SendMessageBatchOutput {
  std::vector<SendMessageBatchResultEntry> successful;
  std::vector<BatchResultErrorEntry> failed;

  bool operator==(const SendMessageBatchOutput&) const = default;
};
consteval auto shape_of(SendMessageBatchOutput*) {
  using Out = SendMessageBatchOutput;
  return wire::shape(
      wire::optional("Successful", &Out::successful).each("SendMessageBatchResultEntry"),
      wire::optional("Failed", &Out::failed).each("BatchResultErrorEntry"));
}

struct DeleteMessageBatchEntry {
  std::string_view id;
  std::string_view receipt_handle;

  bool operator==(const DeleteMessageBatchEntry&) const = default;
};
consteval auto shape_of(DeleteMessageBatchEntry*) {
  using Entry = DeleteMessageBatchEntry;
  return wire::shape(wire::required("Id", &Entry::id),
                     wire::optional("ReceiptHandle", &Entry::receipt_handle));
}

struct DeleteMessageBatchInput {
  std::string_view queue_url;
  std::vector<DeleteMessageBatchEntry> entries;

  bool operator==(const DeleteMessageBatchInput&) const = default;
};
consteval auto shape_of(DeleteMessageBatchInput*) {
  using In = DeleteMessageBatchInput;
  return wire::shape(
      queue_url(&In::queue_url),
      wire::optional("Entries", &In::entries).each("DeleteMessageBatchRequestEntry"));
}

struct DeleteMessageBatchResultEntry {
  std::string_view id;

  bool operator==(const DeleteMessageBatchResultEntry&) const = default;
};
consteval auto shape_of(DeleteMessageBatchResultEntry*) {
  return wire::shape(wire::required("Id", &DeleteMessageBatchResultEntry::id));
}

struct DeleteMessageBatchOutput {
  std::vector<DeleteMessageBatchResultEntry> successful;
  std::vector<BatchResultErrorEntry> failed;

  bool operator==(const DeleteMessageBatchOutput&) const = default;
};
consteval auto shape_of(DeleteMessageBatchOutput*) {
  using Out = DeleteMessageBatchOutput;
  return wire::shape(
      wire::optional("Successful", &Out::successful).each("DeleteMessageBatchResultEntry"),
      wire::optional("Failed", &Out::failed).each("BatchResultErrorEntry"));
}

struct ChangeMessageVisibilityBatchEntry {
  std::string_view id;
  std::string_view receipt_handle;
  std::optional<std::int32_t> visibility_timeout;

  bool operator==(const ChangeMessageVisibilityBatchEntry&) const = default;
};
consteval auto shape_of(ChangeMessageVisibilityBatchEntry*) {
  using Entry = ChangeMessageVisibilityBatchEntry;
  return wire::shape(wire::required("Id", &Entry::id),
                     wire::optional("ReceiptHandle", &Entry::receipt_handle),
                     wire::optional("VisibilityTimeout", &Entry::visibility_timeout));
}

struct ChangeMessageVisibilityBatchInput {
  std::string_view queue_url;
  std::vector<ChangeMessageVisibilityBatchEntry> entries;

  bool operator==(const ChangeMessageVisibilityBatchInput&) const = default;
};
consteval auto shape_of(ChangeMessageVisibilityBatchInput*) {
  using In = ChangeMessageVisibilityBatchInput;
  return wire::shape(
      queue_url(&In::queue_url),
      wire::optional("Entries", &In::entries).each("ChangeMessageVisibilityBatchRequestEntry"));
}

struct ChangeMessageVisibilityBatchResultEntry {
  std::string_view id;

  bool operator==(const ChangeMessageVisibilityBatchResultEntry&) const = default;
};
consteval auto shape_of(ChangeMessageVisibilityBatchResultEntry*) {
  return wire::shape(wire::required("Id", &ChangeMessageVisibilityBatchResultEntry::id));
}

struct ChangeMessageVisibilityBatchOutput {
  std::vector<ChangeMessageVisibilityBatchResultEntry> successful;
  std::vector<BatchResultErrorEntry> failed;

  bool operator==(const ChangeMessageVisibilityBatchOutput&) const = default;
};
consteval auto shape_of(ChangeMessageVisibilityBatchOutput*) {
  using Out = ChangeMessageVisibilityBatchOutput;
  return wire::shape(wire::optional("Successful", &Out::successful)
                         .each("ChangeMessageVisibilityBatchResultEntry"),
                     wire::optional("Failed", &Out::failed).each("BatchResultErrorEntry"));
}

}  // namespace redrive::sqs
