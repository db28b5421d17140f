#pragma once

#include "aws/sqs/model/types.h"

// Labels on queues, and who may use them.

namespace redrive::sqs {

struct TagQueueInput {
  std::string_view queue_url;
  StringMap tags;

  bool operator==(const TagQueueInput&) const = default;
};
consteval auto shape_of(TagQueueInput*) {
  using In = TagQueueInput;
  return wire::shape(queue_url(&In::queue_url),
                     wire::required("Tags", &In::tags).each("Tag", "Key"));
}

struct TagQueueOutput {
  bool operator==(const TagQueueOutput&) const = default;
};
consteval auto shape_of(TagQueueOutput*) {
  return wire::shape();
}

struct UntagQueueInput {
  std::string_view queue_url;
  StringList tag_keys;

  bool operator==(const UntagQueueInput&) const = default;
};
consteval auto shape_of(UntagQueueInput*) {
  using In = UntagQueueInput;
  return wire::shape(queue_url(&In::queue_url),
                     wire::required("TagKeys", &In::tag_keys).each("TagKey"));
}

struct UntagQueueOutput {
  bool operator==(const UntagQueueOutput&) const = default;
};
consteval auto shape_of(UntagQueueOutput*) {
  return wire::shape();
}

struct ListQueueTagsInput {
  std::string_view queue_url;

  bool operator==(const ListQueueTagsInput&) const = default;
};
consteval auto shape_of(ListQueueTagsInput*) {
  return wire::shape(queue_url(&ListQueueTagsInput::queue_url));
}

struct ListQueueTagsOutput {
  StringMap tags;

  bool operator==(const ListQueueTagsOutput&) const = default;
};
consteval auto shape_of(ListQueueTagsOutput*) {
  return wire::shape(wire::optional("Tags", &ListQueueTagsOutput::tags).each("Tag", "Key"));
}

struct AddPermissionInput {
  std::string_view queue_url;
  std::string_view label;
  StringList aws_account_ids;
  StringList actions;

  bool operator==(const AddPermissionInput&) const = default;
};
consteval auto shape_of(AddPermissionInput*) {
  using In = AddPermissionInput;
  return wire::shape(queue_url(&In::queue_url),
                     wire::required("Label", &In::label),
                     wire::required("AWSAccountIds", &In::aws_account_ids).each("AWSAccountId"),
                     wire::required("Actions", &In::actions).each("ActionName"));
}

struct AddPermissionOutput {
  bool operator==(const AddPermissionOutput&) const = default;
};
consteval auto shape_of(AddPermissionOutput*) {
  return wire::shape();
}

struct RemovePermissionInput {
  std::string_view queue_url;
  std::string_view label;

  bool operator==(const RemovePermissionInput&) const = default;
};
consteval auto shape_of(RemovePermissionInput*) {
  using In = RemovePermissionInput;
  return wire::shape(queue_url(&In::queue_url), wire::required("Label", &In::label));
}

struct RemovePermissionOutput {
  bool operator==(const RemovePermissionOutput&) const = default;
};
consteval auto shape_of(RemovePermissionOutput*) {
  return wire::shape();
}

}  // namespace redrive::sqs
