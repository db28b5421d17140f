#pragma once

#include "aws/sqs/model/types.h"

// One message, or one receive.

namespace redrive::sqs {

struct SendMessageInput {
  std::string_view queue_url;
  std::string_view message_body;
  std::optional<std::int32_t> delay_seconds;
  MessageAttributes message_attributes;
  MessageAttributes message_system_attributes;
  std::optional<std::string_view> message_deduplication_id;
  std::optional<std::string_view> message_group_id;

  bool operator==(const SendMessageInput&) const = default;
};
consteval auto shape_of(SendMessageInput*) {
  using In = SendMessageInput;
  return wire::shape(queue_url(&In::queue_url),
                     wire::required("MessageBody", &In::message_body).filled().content(),
                     wire::optional("DelaySeconds", &In::delay_seconds)
                         .between(0, 900, "DelaySeconds must be >= 0 and <= 900."),
                     wire::optional("MessageAttributes", &In::message_attributes)
                         .each("MessageAttribute")
                         .content(),
                     wire::optional("MessageSystemAttributes", &In::message_system_attributes)
                         .each("MessageSystemAttribute")
                         .content(),
                     wire::optional("MessageDeduplicationId", &In::message_deduplication_id),
                     wire::optional("MessageGroupId", &In::message_group_id));
}

struct SendMessageOutput {
  Uuid message_id;
  Md5 md5_of_message_body{};
  std::optional<Md5> md5_of_message_attributes;
  std::optional<Md5> md5_of_message_system_attributes;
  std::optional<std::string_view> sequence_number;

  bool operator==(const SendMessageOutput&) const = default;
};
consteval auto shape_of(SendMessageOutput*) {
  using Out = SendMessageOutput;
  return wire::shape(
      wire::required("MessageId", &Out::message_id),
      wire::required("MD5OfMessageBody", &Out::md5_of_message_body),
      wire::optional("MD5OfMessageAttributes", &Out::md5_of_message_attributes),
      wire::optional("MD5OfMessageSystemAttributes", &Out::md5_of_message_system_attributes),
      wire::optional("SequenceNumber", &Out::sequence_number));
}

// Query clients ask for system attributes by AttributeName, which is also the old JSON name of the
// list: the two lists mean the same and the caller joins them.
struct ReceiveMessageInput {
  std::string_view queue_url;
  StringList attribute_names;
  StringList message_system_attribute_names;
  StringList message_attribute_names;
  std::optional<std::int32_t> max_number_of_messages;
  std::optional<std::int32_t> visibility_timeout;
  std::optional<std::int32_t> wait_time_seconds;
  std::optional<std::string_view> receive_request_attempt_id;

  bool operator==(const ReceiveMessageInput&) const = default;
};
consteval auto shape_of(ReceiveMessageInput*) {
  using In = ReceiveMessageInput;
  return wire::shape(
      queue_url(&In::queue_url),
      wire::optional("AttributeNames", &In::attribute_names).each("AttributeName"),
      wire::optional("MessageSystemAttributeNames", &In::message_system_attribute_names)
          .each("MessageSystemAttributeName"),
      wire::optional("MessageAttributeNames", &In::message_attribute_names)
          .each("MessageAttributeName"),
      wire::optional("MaxNumberOfMessages", &In::max_number_of_messages)
          .between(1, 10, "Must be between 1 and 10, if provided."),
      wire::optional("VisibilityTimeout", &In::visibility_timeout)
          .between(0, 43200, "Must be >= 0 and <= 43200, if provided."),
      wire::optional("WaitTimeSeconds", &In::wait_time_seconds)
          .between(0, 20, "Must be >= 0 and <= 20, if provided."),
      wire::optional("ReceiveRequestAttemptId", &In::receive_request_attempt_id));
}

struct ReceivedMessage {
  Uuid message_id;
  std::string_view receipt_handle;
  Md5 md5_of_body{};
  std::string_view body;
  StringMap attributes;
  std::optional<Md5> md5_of_message_attributes;
  MessageAttributes message_attributes;

  bool operator==(const ReceivedMessage&) const = default;
};
consteval auto shape_of(ReceivedMessage*) {
  using Message = ReceivedMessage;
  return wire::shape(
      wire::required("MessageId", &Message::message_id),
      wire::required("ReceiptHandle", &Message::receipt_handle),
      wire::required("MD5OfBody", &Message::md5_of_body),
      wire::required("Body", &Message::body),
      wire::optional("Attributes", &Message::attributes).each("Attribute"),
      wire::optional("MD5OfMessageAttributes", &Message::md5_of_message_attributes),
      wire::optional("MessageAttributes", &Message::message_attributes).each("MessageAttribute"));
}

struct ReceiveMessageOutput {
  std::vector<ReceivedMessage> messages;

  bool operator==(const ReceiveMessageOutput&) const = default;
};
consteval auto shape_of(ReceiveMessageOutput*) {
  using Out = ReceiveMessageOutput;
  return wire::shape(wire::optional("Messages", &Out::messages).each("Message"));
}

struct DeleteMessageInput {
  std::string_view queue_url;
  std::string_view receipt_handle;

  bool operator==(const DeleteMessageInput&) const = default;
};
consteval auto shape_of(DeleteMessageInput*) {
  using In = DeleteMessageInput;
  return wire::shape(queue_url(&In::queue_url),
                     wire::required("ReceiptHandle", &In::receipt_handle));
}

struct DeleteMessageOutput {
  bool operator==(const DeleteMessageOutput&) const = default;
};
consteval auto shape_of(DeleteMessageOutput*) {
  return wire::shape();
}

struct ChangeMessageVisibilityInput {
  std::string_view queue_url;
  std::string_view receipt_handle;
  std::int32_t visibility_timeout = 0;

  bool operator==(const ChangeMessageVisibilityInput&) const = default;
};
consteval auto shape_of(ChangeMessageVisibilityInput*) {
  using In = ChangeMessageVisibilityInput;
  return wire::shape(
      queue_url(&In::queue_url),
      wire::required("ReceiptHandle", &In::receipt_handle),
      wire::required("VisibilityTimeout", &In::visibility_timeout)
          .between(0, 43200, "VisibilityTimeout must be an integer between 0 and 43200."));
}

struct ChangeMessageVisibilityOutput {
  bool operator==(const ChangeMessageVisibilityOutput&) const = default;
};
consteval auto shape_of(ChangeMessageVisibilityOutput*) {
  return wire::shape();
}

}  // namespace redrive::sqs
