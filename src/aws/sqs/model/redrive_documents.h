#pragma once

#include "aws/sqs/model/types.h"

// The JSON documents inside the RedrivePolicy and RedriveAllowPolicy attributes. Members stand in
// alphabetical order: tools compare the returned text with their own normal form.

namespace redrive::sqs {

struct RedrivePolicyDocument {
  std::optional<std::string_view> dead_letter_target_arn;
  std::optional<std::int64_t> max_receive_count;
};
consteval auto shape_of(RedrivePolicyDocument*) {
  using Document = RedrivePolicyDocument;
  return wire::shape(wire::optional("deadLetterTargetArn", &Document::dead_letter_target_arn),
                     wire::optional("maxReceiveCount", &Document::max_receive_count));
}

// For telling what was wrong with a count that is no number.
struct RedriveCountText {
  std::optional<std::string_view> max_receive_count;
};
consteval auto shape_of(RedriveCountText*) {
  return wire::shape(wire::optional("maxReceiveCount", &RedriveCountText::max_receive_count));
}

struct RedriveAllowPolicyDocument {
  std::optional<std::string_view> redrive_permission;
  StringList source_queue_arns;
};
consteval auto shape_of(RedriveAllowPolicyDocument*) {
  using Document = RedriveAllowPolicyDocument;
  return wire::shape(
      wire::optional("redrivePermission", &Document::redrive_permission),
      wire::optional("sourceQueueArns", &Document::source_queue_arns).each("sourceQueueArn"));
}

// A move task's handle, in base64.
struct TaskHandleDocument {
  std::string_view task_id;
  std::string_view source_arn;
};
consteval auto shape_of(TaskHandleDocument*) {
  using Document = TaskHandleDocument;
  return wire::shape(wire::required("taskId", &Document::task_id),
                     wire::required("sourceArn", &Document::source_arn));
}

}  // namespace redrive::sqs
