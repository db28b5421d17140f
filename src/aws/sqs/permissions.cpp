// AddPermission and RemovePermission: statements of the queue's policy.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "aws/sqs/model/policy_document.h"
#include "aws/sqs/operations.h"
#include "base/account.h"
#include "core/catalogue/queues.h"

namespace redrive::sqs {
namespace {

using engine::Turn;

constexpr std::size_t kActionsMax = 7;

constexpr std::array<std::string_view, 9> kShareableActions = {"*",
                                                               "ChangeMessageVisibility",
                                                               "DeleteMessage",
                                                               "GetQueueAttributes",
                                                               "GetQueueUrl",
                                                               "ListDeadLetterSourceQueues",
                                                               "PurgeQueue",
                                                               "ReceiveMessage",
                                                               "SendMessage"};

Result<void> check_label(std::string_view label) {
  const bool fits = !label.empty() && label.size() <= 80 && std::ranges::all_of(label, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (fits) return {};
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("Value {} for parameter Label is invalid. Reason: Must be 1 to 80 "
                          "alphanumeric characters, hyphens "
                          "or underscores.",
                          label));
}

Result<void> check_actions(const StringList& actions) {
  if (actions.size() > kActionsMax) {
    return fail(ErrorCode::over_limit,
                fmt::format("{} Actions were found, maximum allowed is 7.", actions.size()));
  }
  for (const std::string_view action : actions) {
    if (std::ranges::find(kShareableActions, action) != kShareableActions.end()) continue;
    const bool exists = AllActions::index_of(action).has_value();
    return fail(
        ErrorCode::invalid_parameter_value,
        fmt::format("Value SQS:{} for parameter ActionName is invalid. Reason: {}",
                    action,
                    exists ? "Only the queue owner is allowed to invoke this action."
                           : "Please refer to the appropriate WSDL for a list of valid actions. "));
  }
  return {};
}

Result<void> check_accounts(const StringList& accounts) {
  for (const std::string_view account : accounts) {
    if (is_account(account)) continue;
    return fail(
        ErrorCode::invalid_parameter_value,
        fmt::format("Value {} for parameter PrincipalId is invalid. Reason: Unable to verify.",
                    account));
  }
  return {};
}

}  // namespace

Result<AddPermissionOutput> run(Call& call, const AddPermissionInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  return call.engine.turn([&](Turn& turn) -> Result<AddPermissionOutput> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    RETURN_IF_ERROR(check_label(input.label));
    RETURN_IF_ERROR(check_accounts(input.aws_account_ids));
    RETURN_IF_ERROR(check_actions(input.actions));
    if (policy_has_statement(queue.settings.policy, input.label)) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("Value {} for parameter Label is invalid. Reason: Already exists.",
                              input.label));
    }
    queue::QueueSettings settings = queue.settings;
    const std::string arn = identity.arn();
    settings.policy =
        policy_with(settings.policy, {input.label, arn, input.aws_account_ids, input.actions});
    catalogue::change_settings(turn, queue, std::move(settings));
    return AddPermissionOutput{};
  });
}

Result<RemovePermissionOutput> run(Call& call, const RemovePermissionInput& input) {
  const auto identity = TRY(call.queue(input.queue_url));
  return call.engine.turn([&](Turn& turn) -> Result<RemovePermissionOutput> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    if (!policy_has_statement(queue.settings.policy, input.label)) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("Value {} for parameter Label is invalid. Reason: can't find label.",
                              input.label));
    }
    queue::QueueSettings settings = queue.settings;
    settings.policy = policy_without(settings.policy, input.label);
    catalogue::change_settings(turn, queue, std::move(settings));
    return RemovePermissionOutput{};
  });
}

}  // namespace redrive::sqs
