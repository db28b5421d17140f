#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "aws/sqs/call.h"
#include "aws/sqs/model/actions.h"
#include "front/authorize.h"
#include "front/dead_letter_sources.h"

// The rights that the actions of SQS need, and the queues that a request names. front/authorize.h
// decides.
namespace redrive::sqs {

// The operation of an action.
front::Operation sqs_operation(std::string_view action);

// The dead-letter queue that the attributes of a request name; nothing if they name none, or are
// invalid, which the action refuses.
std::optional<queue::QueueIdentity> dead_letter_target_of(const StringMap& attributes);
// The queue whose move task this handle names.
std::optional<queue::QueueIdentity> identity_from_task_handle(std::string_view handle);

// Calls `visit` with each queue of a request and the equivalent action on it.
template <class Action, class Visit>
Result<void> for_each_target(const Call& call, const typename Action::Input& input, Visit visit) {
  if constexpr (std::is_same_v<Action, SetQueueAttributes>) {
    // Setting the policy shares the queue.
    const auto queue = TRY(call.queue(input.queue_url));
    const bool shares = std::ranges::any_of(
        input.attributes, [](const auto& attribute) { return attribute.first == "Policy"; });
    if (shares) RETURN_IF_ERROR(visit(AddPermission::kName, queue));
    RETURN_IF_ERROR(visit(Action::kName, queue));
    const auto target = dead_letter_target_of(input.attributes);
    return target ? visit(SendMessage::kName, *target) : Result<void>();
  } else if constexpr (names_queue<typename Action::Input>) {
    return visit(Action::kName, TRY(call.queue(input.queue_url)));
  } else if constexpr (requires { input.queue_owner_aws_account_id; }) {
    const std::string_view account = input.queue_owner_aws_account_id.value_or(call.account);
    return visit(
        Action::kName,
        queue::QueueIdentity{std::string(account), call.region, std::string(input.queue_name)});
  } else if constexpr (std::is_same_v<Action, CreateQueue>) {
    RETURN_IF_ERROR(
        visit(Action::kName,
              queue::QueueIdentity{call.account, call.region, std::string(input.queue_name)}));
    const auto target = dead_letter_target_of(input.attributes);
    return target ? visit(SendMessage::kName, *target) : Result<void>();
  } else if constexpr (requires { input.source_arn; }) {
    // The action refuses an invalid ARN.
    const auto source = front::identity_from_arn(input.source_arn);
    if (source) RETURN_IF_ERROR(visit(Action::kName, *source));
    if constexpr (requires { input.destination_arn; }) {
      const auto target = front::identity_from_arn(input.destination_arn.value_or(""));
      if (target) RETURN_IF_ERROR(visit(SendMessage::kName, *target));
      if (input.destination_arn) return {};
      for (const auto& origin : front::dead_letter_sources(call.engine, input.source_arn)) {
        RETURN_IF_ERROR(visit(SendMessage::kName, origin));
      }
    }
    return {};
  } else if constexpr (requires { input.task_handle; }) {
    const auto source = identity_from_task_handle(input.task_handle);
    if (source) RETURN_IF_ERROR(visit(Action::kName, *source));
    return {};
  } else {
    return {};
  }
}

template <class Action>
Result<void> authorize_request(const Call& call, const typename Action::Input& input) {
  if (call.key == nullptr) return {};
  bool about_queues = false;
  RETURN_IF_ERROR(for_each_target<Action>(
      call, input, [&](std::string_view action, const queue::QueueIdentity& queue) {
        about_queues = true;
        return front::authorize(
            call.engine, call, sqs_operation(action), front::resource_of(queue));
      }));
  if (about_queues) return {};
  return front::decide(
      call, sqs_operation(Action::kName), front::account_resource(call.account), {});
}

}  // namespace redrive::sqs
