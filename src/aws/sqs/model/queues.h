#pragma once

#include "aws/sqs/model/types.h"

// Queues themselves: making, finding, describing, emptying and deleting them.

namespace redrive::sqs {

struct CreateQueueInput {
  std::string_view queue_name;
  StringMap attributes;
  StringMap tags;

  bool operator==(const CreateQueueInput&) const = default;
};
consteval auto shape_of(CreateQueueInput*) {
  using In = CreateQueueInput;
  return wire::shape(wire::required("QueueName", &In::queue_name),
                     wire::optional("Attributes", &In::attributes).each("Attribute"),
                     wire::optional("tags", &In::tags).each("Tag", "Key"));
}

struct CreateQueueOutput {
  std::string_view queue_url;

  bool operator==(const CreateQueueOutput&) const = default;
};
consteval auto shape_of(CreateQueueOutput*) {
  return wire::shape(wire::required("QueueUrl", &CreateQueueOutput::queue_url));
}

struct DeleteQueueInput {
  std::string_view queue_url;

  bool operator==(const DeleteQueueInput&) const = default;
};
consteval auto shape_of(DeleteQueueInput*) {
  return wire::shape(queue_url(&DeleteQueueInput::queue_url));
}

struct DeleteQueueOutput {
  bool operator==(const DeleteQueueOutput&) const = default;
};
consteval auto shape_of(DeleteQueueOutput*) {
  return wire::shape();
}

struct GetQueueUrlInput {
  std::string_view queue_name;
  std::optional<std::string_view> queue_owner_aws_account_id;

  bool operator==(const GetQueueUrlInput&) const = default;
};
consteval auto shape_of(GetQueueUrlInput*) {
  using In = GetQueueUrlInput;
  return wire::shape(wire::required("QueueName", &In::queue_name),
                     wire::optional("QueueOwnerAWSAccountId", &In::queue_owner_aws_account_id));
}

struct GetQueueUrlOutput {
  std::string_view queue_url;

  bool operator==(const GetQueueUrlOutput&) const = default;
};
consteval auto shape_of(GetQueueUrlOutput*) {
  return wire::shape(wire::required("QueueUrl", &GetQueueUrlOutput::queue_url));
}

struct ListQueuesInput {
  std::optional<std::string_view> queue_name_prefix;
  std::optional<std::int32_t> max_results;
  std::optional<std::string_view> next_token;

  bool operator==(const ListQueuesInput&) const = default;
};
consteval auto shape_of(ListQueuesInput*) {
  using In = ListQueuesInput;
  return wire::shape(wire::optional("QueueNamePrefix", &In::queue_name_prefix),
                     wire::optional("MaxResults", &In::max_results)
                         .between(1, 1000, "MaxResults must be an integer between 1 and 1000."),
                     wire::optional("NextToken", &In::next_token));
}

struct ListQueuesOutput {
  StringList queue_urls;
  std::optional<std::string_view> next_token;

  bool operator==(const ListQueuesOutput&) const = default;
};
consteval auto shape_of(ListQueuesOutput*) {
  using Out = ListQueuesOutput;
  return wire::shape(wire::optional("QueueUrls", &Out::queue_urls).each("QueueUrl"),
                     wire::optional("NextToken", &Out::next_token));
}

struct ListDeadLetterSourceQueuesInput {
  std::string_view queue_url;
  std::optional<std::int32_t> max_results;
  std::optional<std::string_view> next_token;

  bool operator==(const ListDeadLetterSourceQueuesInput&) const = default;
};
consteval auto shape_of(ListDeadLetterSourceQueuesInput*) {
  using In = ListDeadLetterSourceQueuesInput;
  return wire::shape(queue_url(&In::queue_url),
                     wire::optional("MaxResults", &In::max_results)
                         .between(1, 1000, "MaxResults must be an integer between 1 and 1000."),
                     wire::optional("NextToken", &In::next_token));
}

// Clients insist on the list, and on its lower-case name.
struct ListDeadLetterSourceQueuesOutput {
  StringList queue_urls;
  std::optional<std::string_view> next_token;

  bool operator==(const ListDeadLetterSourceQueuesOutput&) const = default;
};
consteval auto shape_of(ListDeadLetterSourceQueuesOutput*) {
  using Out = ListDeadLetterSourceQueuesOutput;
  return wire::shape(wire::optional("queueUrls", &Out::queue_urls).each("QueueUrl").always(),
                     wire::optional("NextToken", &Out::next_token));
}

struct GetQueueAttributesInput {
  std::string_view queue_url;
  StringList attribute_names;

  bool operator==(const GetQueueAttributesInput&) const = default;
};
consteval auto shape_of(GetQueueAttributesInput*) {
  using In = GetQueueAttributesInput;
  return wire::shape(queue_url(&In::queue_url),
                     wire::optional("AttributeNames", &In::attribute_names).each("AttributeName"));
}

struct GetQueueAttributesOutput {
  StringMap attributes;

  bool operator==(const GetQueueAttributesOutput&) const = default;
};
consteval auto shape_of(GetQueueAttributesOutput*) {
  using Out = GetQueueAttributesOutput;
  return wire::shape(wire::optional("Attributes", &Out::attributes).each("Attribute"));
}

struct SetQueueAttributesInput {
  std::string_view queue_url;
  StringMap attributes;

  bool operator==(const SetQueueAttributesInput&) const = default;
};
consteval auto shape_of(SetQueueAttributesInput*) {
  using In = SetQueueAttributesInput;
  return wire::shape(queue_url(&In::queue_url),
                     wire::required("Attributes", &In::attributes).each("Attribute"));
}

struct SetQueueAttributesOutput {
  bool operator==(const SetQueueAttributesOutput&) const = default;
};
consteval auto shape_of(SetQueueAttributesOutput*) {
  return wire::shape();
}

struct PurgeQueueInput {
  std::string_view queue_url;

  bool operator==(const PurgeQueueInput&) const = default;
};
consteval auto shape_of(PurgeQueueInput*) {
  return wire::shape(queue_url(&PurgeQueueInput::queue_url));
}

struct PurgeQueueOutput {
  bool operator==(const PurgeQueueOutput&) const = default;
};
consteval auto shape_of(PurgeQueueOutput*) {
  return wire::shape();
}

}  // namespace redrive::sqs
