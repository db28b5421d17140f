#pragma once

#include "aws/sqs/model/types.h"

// Moving messages from a dead-letter queue back, or elsewhere.

namespace redrive::sqs {

struct StartMessageMoveTaskInput {
  std::string_view source_arn;
  std::optional<std::string_view> destination_arn;
  std::optional<std::int32_t> max_number_of_messages_per_second;

  bool operator==(const StartMessageMoveTaskInput&) const = default;
};
consteval auto shape_of(StartMessageMoveTaskInput*) {
  using In = StartMessageMoveTaskInput;
  return wire::shape(
      wire::required("SourceArn", &In::source_arn),
      wire::optional("DestinationArn", &In::destination_arn),
      wire::optional("MaxNumberOfMessagesPerSecond", &In::max_number_of_messages_per_second)
          .between(1, 500, "MaxNumberOfMessagesPerSecond must be an integer between 1 and 500."));
}

struct StartMessageMoveTaskOutput {
  std::string_view task_handle;

  bool operator==(const StartMessageMoveTaskOutput&) const = default;
};
consteval auto shape_of(StartMessageMoveTaskOutput*) {
  return wire::shape(wire::required("TaskHandle", &StartMessageMoveTaskOutput::task_handle));
}

struct CancelMessageMoveTaskInput {
  std::string_view task_handle;

  bool operator==(const CancelMessageMoveTaskInput&) const = default;
};
consteval auto shape_of(CancelMessageMoveTaskInput*) {
  return wire::shape(wire::required("TaskHandle", &CancelMessageMoveTaskInput::task_handle));
}

struct CancelMessageMoveTaskOutput {
  std::int64_t approximate_number_of_messages_moved = 0;

  bool operator==(const CancelMessageMoveTaskOutput&) const = default;
};
consteval auto shape_of(CancelMessageMoveTaskOutput*) {
  using Out = CancelMessageMoveTaskOutput;
  return wire::shape(wire::required("ApproximateNumberOfMessagesMoved",
                                    &Out::approximate_number_of_messages_moved));
}

struct ListMessageMoveTasksInput {
  std::string_view source_arn;
  std::optional<std::int32_t> max_results;

  bool operator==(const ListMessageMoveTasksInput&) const = default;
};
consteval auto shape_of(ListMessageMoveTasksInput*) {
  using In = ListMessageMoveTasksInput;
  return wire::shape(wire::required("SourceArn", &In::source_arn),
                     wire::optional("MaxResults", &In::max_results)
                         .between(1, 10, "MaxResults must be an integer between 1 and 10."));
}

struct ListMessageMoveTasksResultEntry {
  std::optional<std::string_view> task_handle;  // While it runs.
  std::string_view status;
  std::string_view source_arn;
  std::optional<std::string_view> destination_arn;
  std::optional<std::int32_t> max_number_of_messages_per_second;
  std::int64_t approximate_number_of_messages_moved = 0;
  std::optional<std::int64_t> approximate_number_of_messages_to_move;
  std::optional<std::string_view> failure_reason;
  std::int64_t started_timestamp = 0;  // Milliseconds since 1970.

  bool operator==(const ListMessageMoveTasksResultEntry&) const = default;
};
consteval auto shape_of(ListMessageMoveTasksResultEntry*) {
  using Entry = ListMessageMoveTasksResultEntry;
  return wire::shape(
      wire::optional("TaskHandle", &Entry::task_handle),
      wire::required("Status", &Entry::status),
      wire::required("SourceArn", &Entry::source_arn),
      wire::optional("DestinationArn", &Entry::destination_arn),
      wire::optional("MaxNumberOfMessagesPerSecond", &Entry::max_number_of_messages_per_second),
      wire::required("ApproximateNumberOfMessagesMoved",
                     &Entry::approximate_number_of_messages_moved),
      wire::optional("ApproximateNumberOfMessagesToMove",
                     &Entry::approximate_number_of_messages_to_move),
      wire::optional("FailureReason", &Entry::failure_reason),
      wire::required("StartedTimestamp", &Entry::started_timestamp));
}

struct ListMessageMoveTasksOutput {
  std::vector<ListMessageMoveTasksResultEntry> results;

  bool operator==(const ListMessageMoveTasksOutput&) const = default;
};
consteval auto shape_of(ListMessageMoveTasksOutput*) {
  using Out = ListMessageMoveTasksOutput;
  return wire::shape(
      wire::optional("Results", &Out::results).each("ListMessageMoveTasksResultEntry"));
}

}  // namespace redrive::sqs
