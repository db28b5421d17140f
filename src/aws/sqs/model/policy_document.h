#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

// The Policy attribute as JSON text: what AddPermission and RemovePermission do to it.

namespace redrive::sqs {

bool is_policy(std::string_view text);  // A JSON object.
bool policy_has_statement(std::string_view policy, std::string_view sid);

struct Permission {
  std::string_view label;
  std::string_view queue_arn;
  std::span<const std::string_view> accounts;
  std::span<const std::string_view> actions;
};
// The policy with one more statement; an empty one becomes SQS's default policy first.
std::string policy_with(std::string_view policy, const Permission& permission);
// The policy without that statement; empty when it was the last.
std::string policy_without(std::string_view policy, std::string_view sid);

}  // namespace redrive::sqs
