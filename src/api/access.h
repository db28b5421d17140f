#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "api/call.h"
#include "auth/access_key.h"
#include "sqs/actions.h"

// Who may do what. Only asked when the server has keys; without any, everybody may do everything.
namespace redrive::api {

// Whether the caller may do this to that queue. Two voices are heard: the caller's key (its role
// and its queue patterns) must permit it, and the queue's policy must not deny it. A queue of
// another account is reached only through a policy that allows it.
Result<void> authorize(const Call& call, std::string_view action,
                       const queue::QueueIdentity& queue);
// For what is about no queue in particular.
Result<void> authorize(const Call& call, std::string_view action);

std::optional<queue::QueueIdentity> identity_from_arn(std::string_view arn);
// The queue whose move task this handle names.
std::optional<queue::QueueIdentity> identity_from_task_handle(std::string_view handle);

// Calls `visit` with each queue that a request is about, and the action it amounts to there.
template <class Action, class Visit>
Result<void> for_each_target(const Call& call, const typename Action::Input& input, Visit visit) {
  if constexpr (std::is_same_v<Action, sqs::SetQueueAttributes>) {
    // Whoever sets the policy shares the queue.
    const auto queue = TRY(call.queue(input.queue_url));
    const bool shares = std::ranges::any_of(
        input.attributes, [](const auto& attribute) { return attribute.first == "Policy"; });
    if (shares) CHECK(visit(sqs::AddPermission::kName, queue));
    return visit(Action::kName, queue);
  } else if constexpr (sqs::names_queue<typename Action::Input>) {
    return visit(Action::kName, TRY(call.queue(input.queue_url)));
  } else if constexpr (requires { input.queue_owner_aws_account_id; }) {
    const std::string_view account = input.queue_owner_aws_account_id.value_or(call.account);
    return visit(
        Action::kName,
        queue::QueueIdentity{std::string(account), call.region, std::string(input.queue_name)});
  } else if constexpr (requires { input.queue_name; }) {
    return visit(Action::kName,
                 queue::QueueIdentity{call.account, call.region, std::string(input.queue_name)});
  } else if constexpr (requires { input.source_arn; }) {
    // An ARN that is none is for the action itself to refuse.
    const auto source = identity_from_arn(input.source_arn);
    if (source) CHECK(visit(Action::kName, *source));
    if constexpr (requires { input.destination_arn; }) {
      const auto target = identity_from_arn(input.destination_arn.value_or(""));
      if (target) CHECK(visit(sqs::SendMessage::kName, *target));
    }
    return {};
  } else if constexpr (requires { input.task_handle; }) {
    const auto source = identity_from_task_handle(input.task_handle);
    if (source) CHECK(visit(Action::kName, *source));
    return {};
  } else {
    return {};
  }
}

template <class Action>
Result<void> authorize_request(const Call& call, const typename Action::Input& input) {
  if (call.key == nullptr) return {};
  bool about_queues = false;
  CHECK(for_each_target<Action>(
      call, input, [&](std::string_view action, const queue::QueueIdentity& queue) {
        about_queues = true;
        return authorize(call, action, queue);
      }));
  return about_queues ? Result<void>() : authorize(call, Action::kName);
}

}  // namespace redrive::api
