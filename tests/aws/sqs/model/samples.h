#pragma once

#include "aws/sqs/model/actions.h"
#include "base/digest.h"

namespace redrive::sqs {

// A value of each input and output with every member set, texts that need escapes among them.
template <class T>
T sample();

inline constexpr std::string_view kUrl = "http://127.0.0.1:9324/000000000000/orders";
inline constexpr std::string_view kArn = "arn:aws:sqs:us-east-1:000000000000:orders-dlq";
inline constexpr std::string_view kOdd = "h€llo \"w\" <&>\r\n\t\\ +%41 😀";

inline Uuid sample_id() {
  return *Uuid::parse("5fea7756-0ea4-451a-a703-a558b933e274");
}

inline MessageAttributes sample_attributes() {
  return {{"color", {.data_type = "String", .string_value = kOdd}},
          {"Bin", {.data_type = "Binary.x", .binary_value = wire::Blob{{"\x00\x01\x02\xff", 4}}}},
          {"lists",
           {.data_type = "String",
            .string_list_values = {"a", "b"},
            .binary_list_values = {wire::Blob{"c"}}}}};
}
inline MessageAttributes sample_system_attributes() {
  return {{"AWSTraceHeader", {.data_type = "String", .string_value = "Root=1-5759e988"}}};
}
inline std::vector<BatchResultErrorEntry> sample_failures() {
  return {{.id = "1", .sender_fault = true, .code = "ReceiptHandleIsInvalid", .message = kOdd},
          {.id = "2", .sender_fault = false, .code = "InternalError", .message = ""}};
}

template <>
inline CreateQueueInput sample() {
  return {.queue_name = "orders",
          .attributes = {{"Policy", kOdd}, {"DelaySeconds", "1"}},
          .tags = {{"team", ""}, {"b", kOdd}}};
}

template <>
inline CreateQueueOutput sample() {
  return {.queue_url = kUrl};
}

template <>
inline DeleteQueueInput sample() {
  return {.queue_url = kUrl};
}

template <>
inline DeleteQueueOutput sample() {
  return {};
}

template <>
inline GetQueueUrlInput sample() {
  return {.queue_name = "orders", .queue_owner_aws_account_id = "000000000000"};
}

template <>
inline GetQueueUrlOutput sample() {
  return {.queue_url = kUrl};
}

template <>
inline ListQueuesInput sample() {
  return {.queue_name_prefix = "or", .max_results = 1000, .next_token = kOdd};
}

template <>
inline ListQueuesOutput sample() {
  return {.queue_urls = {kUrl, kUrl}, .next_token = "t"};
}

template <>
inline ListDeadLetterSourceQueuesInput sample() {
  return {.queue_url = kUrl, .max_results = 1, .next_token = "t"};
}

template <>
inline ListDeadLetterSourceQueuesOutput sample() {
  return {.queue_urls = {kUrl}, .next_token = "t"};
}

template <>
inline GetQueueAttributesInput sample() {
  return {.queue_url = kUrl, .attribute_names = {"All", "QueueArn"}};
}

template <>
inline GetQueueAttributesOutput sample() {
  return {.attributes = {{"QueueArn", kArn}, {"Policy", kOdd}}};
}

template <>
inline SetQueueAttributesInput sample() {
  return {.queue_url = kUrl, .attributes = {{"Policy", ""}, {"VisibilityTimeout", "60"}}};
}

template <>
inline SetQueueAttributesOutput sample() {
  return {};
}

template <>
inline PurgeQueueInput sample() {
  return {.queue_url = kUrl};
}

template <>
inline PurgeQueueOutput sample() {
  return {};
}

template <>
inline TagQueueInput sample() {
  return {.queue_url = kUrl, .tags = {{"a", "1"}, {"b", ""}}};
}

template <>
inline TagQueueOutput sample() {
  return {};
}

template <>
inline UntagQueueInput sample() {
  return {.queue_url = kUrl, .tag_keys = {"a", kOdd}};
}

template <>
inline UntagQueueOutput sample() {
  return {};
}

template <>
inline ListQueueTagsInput sample() {
  return {.queue_url = kUrl};
}

template <>
inline ListQueueTagsOutput sample() {
  return {.tags = {{"a", "1"}, {"b", ""}}};
}

template <>
inline AddPermissionInput sample() {
  return {.queue_url = kUrl,
          .label = "l",
          .aws_account_ids = {"111111111111", "222222222222"},
          .actions = {"*"}};
}

template <>
inline AddPermissionOutput sample() {
  return {};
}

template <>
inline RemovePermissionInput sample() {
  return {.queue_url = kUrl, .label = "l"};
}

template <>
inline RemovePermissionOutput sample() {
  return {};
}

template <>
inline SendMessageInput sample() {
  return {.queue_url = kUrl,
          .message_body = kOdd,
          .delay_seconds = 900,
          .message_attributes = sample_attributes(),
          .message_system_attributes = sample_system_attributes(),
          .message_deduplication_id = "d",
          .message_group_id = "g"};
}

template <>
inline SendMessageOutput sample() {
  return {.message_id = sample_id(),
          .md5_of_message_body = md5("a"),
          .md5_of_message_attributes = md5("b"),
          .md5_of_message_system_attributes = md5("c"),
          .sequence_number = "18849496460467696128"};
}

template <>
inline ReceiveMessageInput sample() {
  return {.queue_url = kUrl,
          .attribute_names = {"SenderId"},
          .message_system_attribute_names = {"All"},
          .message_attribute_names = {"foo.*", "bar"},
          .max_number_of_messages = 10,
          .visibility_timeout = 0,
          .wait_time_seconds = 20,
          .receive_request_attempt_id = "r"};
}

template <>
inline ReceiveMessageOutput sample() {
  const ReceivedMessage bare{
      .message_id = sample_id(), .receipt_handle = "AQEB", .md5_of_body = md5("x"), .body = "x"};
  ReceivedMessage full = bare;
  full.body = kOdd;
  full.attributes = {{"SentTimestamp", "1767268800000"}, {"ApproximateReceiveCount", "1"}};
  full.md5_of_message_attributes = md5("b");
  full.message_attributes = sample_attributes();
  return {.messages = {full, bare}};
}

template <>
inline DeleteMessageInput sample() {
  return {.queue_url = kUrl, .receipt_handle = "AQEB+/="};
}

template <>
inline DeleteMessageOutput sample() {
  return {};
}

template <>
inline ChangeMessageVisibilityInput sample() {
  return {.queue_url = kUrl, .receipt_handle = "AQEB", .visibility_timeout = 43200};
}

template <>
inline ChangeMessageVisibilityOutput sample() {
  return {};
}

template <>
inline SendMessageBatchInput sample() {
  const SendMessageBatchEntry bare{.id = "b", .message_body = "two"};
  return {.queue_url = kUrl,
          .entries = {{.id = "a",
                       .message_body = kOdd,
                       .delay_seconds = -5,
                       .message_attributes = sample_attributes(),
                       .message_system_attributes = sample_system_attributes(),
                       .message_deduplication_id = "d",
                       .message_group_id = "g"},
                      bare}};
}

template <>
inline SendMessageBatchOutput sample() {
  return {.successful = {{.id = "a",
                          .message_id = sample_id(),
                          .md5_of_message_body = md5("a"),
                          .md5_of_message_attributes = md5("b"),
                          .md5_of_message_system_attributes = md5("c"),
                          .sequence_number = "1"}},
          .failed = sample_failures()};
}

template <>
inline DeleteMessageBatchInput sample() {
  return {.queue_url = kUrl,
          .entries = {{.id = "a", .receipt_handle = "h"}, {.id = "b", .receipt_handle = ""}}};
}

template <>
inline DeleteMessageBatchOutput sample() {
  return {.successful = {{.id = "0"}, {.id = "3"}}, .failed = sample_failures()};
}

template <>
inline ChangeMessageVisibilityBatchInput sample() {
  return {.queue_url = kUrl,
          .entries = {{.id = "a", .receipt_handle = "h", .visibility_timeout = 99999},
                      {.id = "b", .receipt_handle = "i", .visibility_timeout = std::nullopt}}};
}

template <>
inline ChangeMessageVisibilityBatchOutput sample() {
  return {.successful = {{.id = "0"}}, .failed = sample_failures()};
}

template <>
inline StartMessageMoveTaskInput sample() {
  return {.source_arn = kArn, .destination_arn = kArn, .max_number_of_messages_per_second = 500};
}

template <>
inline StartMessageMoveTaskOutput sample() {
  return {.task_handle = "eyJ0"};
}

template <>
inline CancelMessageMoveTaskInput sample() {
  return {.task_handle = "eyJ0"};
}

template <>
inline CancelMessageMoveTaskOutput sample() {
  return {.approximate_number_of_messages_moved = 5'000'000'000};
}

template <>
inline ListMessageMoveTasksInput sample() {
  return {.source_arn = kArn, .max_results = 10};
}

template <>
inline ListMessageMoveTasksOutput sample() {
  const ListMessageMoveTasksResultEntry bare{
      .status = "FAILED",
      .source_arn = kArn,
      .failure_reason = "AWS.SimpleQueueService.NonExistentQueue"};
  return {.results = {{.task_handle = "eyJ0",
                       .status = "RUNNING",
                       .source_arn = kArn,
                       .destination_arn = kArn,
                       .max_number_of_messages_per_second = 50,
                       .approximate_number_of_messages_moved = 2,
                       .approximate_number_of_messages_to_move = 10,
                       .started_timestamp = 1767268800000},
                      bare}};
}

}  // namespace redrive::sqs
