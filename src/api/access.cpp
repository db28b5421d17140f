#include "api/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "base/pattern.h"
#include "base/text.h"
#include "sqs/policy_decision.h"

namespace redrive::api {
namespace {

using auth::Right;
using queue::QueueIdentity;

// What an action needs, and whether a queue's policy can grant it to another account.
struct ActionRule {
  auth::Right right;
  bool shareable;
};
struct Row {
  std::string_view action;
  ActionRule rule;
};

constexpr bool kShareable = true;
constexpr bool kOwnersOnly = false;

constexpr std::array kRules = {
    Row{"SendMessage", {Right::send, kShareable}},
    Row{"SendMessageBatch", {Right::send, kShareable}},
    Row{"ReceiveMessage", {Right::consume, kShareable}},
    Row{"DeleteMessage", {Right::consume, kShareable}},
    Row{"DeleteMessageBatch", {Right::consume, kShareable}},
    Row{"ChangeMessageVisibility", {Right::consume, kShareable}},
    Row{"ChangeMessageVisibilityBatch", {Right::consume, kShareable}},
    Row{"GetQueueUrl", {Right::find, kShareable}},
    Row{"GetQueueAttributes", {Right::find, kShareable}},
    Row{"ListQueues", {Right::find, kOwnersOnly}},
    Row{"ListDeadLetterSourceQueues", {Right::look, kShareable}},
    Row{"ListQueueTags", {Right::look, kOwnersOnly}},
    Row{"ListMessageMoveTasks", {Right::look, kOwnersOnly}},
    Row{"PurgeQueue", {Right::operate, kShareable}},
    Row{"SetQueueAttributes", {Right::operate, kOwnersOnly}},
    Row{"TagQueue", {Right::operate, kOwnersOnly}},
    Row{"UntagQueue", {Right::operate, kOwnersOnly}},
    Row{"StartMessageMoveTask", {Right::operate, kOwnersOnly}},
    Row{"CancelMessageMoveTask", {Right::operate, kOwnersOnly}},
    Row{"CreateQueue", {Right::administer, kOwnersOnly}},
    Row{"DeleteQueue", {Right::administer, kOwnersOnly}},
    Row{"AddPermission", {Right::administer, kOwnersOnly}},
    Row{"RemovePermission", {Right::administer, kOwnersOnly}},
};

constexpr bool every_action_has_a_rule() {
  for (const std::string_view name : sqs::AllActions::kNames) {
    if (std::ranges::find(kRules, name, &Row::action) == kRules.end()) return false;
  }
  return kRules.size() == sqs::AllActions::kSize;
}
static_assert(every_action_has_a_rule());

ActionRule rule_of(std::string_view action) {
  const auto found = std::ranges::find(kRules, action, &Row::action);
  assert(found != kRules.end());
  return found->rule;
}

std::unexpected<Error> denied(const Call& call, std::string_view action, std::string_view resource,
                              std::string_view reason) {
  return fail(
      ErrorCode::access_denied,
      fmt::format("User: {} is not authorized to perform: sqs:{} on resource: {} because {}",
                  call.key->arn(),
                  to_lower(action),
                  resource,
                  reason));
}

bool may(const Call& call, const ActionRule& rule) {
  return auth::has_right(call.key->role, rule.right);
}

std::unexpected<Error> denied_by_role(const Call& call, std::string_view action,
                                      std::string_view resource) {
  return denied(call,
                action,
                resource,
                fmt::format("the role {} does not allow it", auth::role_name(call.key->role)));
}

std::string policy_of(const Call& call, const QueueIdentity& queue) {
  return call.engine.turn([&](engine::Turn& turn) {
    const queue::Queue* found = turn.state().find(queue);
    return found == nullptr ? std::string() : found->settings.policy;
  });
}

// The verbs of a batch are those of its messages.
std::string_view action_in_policies(std::string_view action) {
  constexpr std::string_view kBatch = "Batch";
  if (action.ends_with(kBatch)) action.remove_suffix(kBatch.size());
  return action;
}

// A policy that shuts everybody out must not shut out those who could change it.
bool mends_policies(const Call& call, std::string_view action) {
  return call.key->role == auth::Role::admin &&
         (action == "SetQueueAttributes" || action == "AddPermission" ||
          action == "GetQueueAttributes" || action == "RemovePermission" ||
          action == "DeleteQueue");
}

}  // namespace

Result<void> authorize(const Call& call, std::string_view action) {
  if (may(call, rule_of(action))) return {};
  return denied_by_role(call, action, "*");
}

Result<void> authorize(const Call& call, std::string_view action, const QueueIdentity& queue) {
  const ActionRule rule = rule_of(action);
  if (!may(call, rule)) return denied_by_role(call, action, queue.arn());
  if (!call.key->covers(queue.name)) {
    return denied(call, action, queue.arn(), "the key is for other queues");
  }
  const bool own = queue.account == call.account;
  if (!own && !rule.shareable) {
    return denied(call, action, queue.arn(), "only the account that owns the queue may do it");
  }
  const std::string policy = policy_of(call, queue);
  if (own && policy.empty()) return {};
  const std::string arn = queue.arn();
  const auto verdict = sqs::evaluate_policy(policy,
                                            {.action = action_in_policies(action),
                                             .resource = arn,
                                             .caller_account = call.account,
                                             .caller_arn = call.key->arn(),
                                             .source_ip = call.peer,
                                             .secure = call.secure});
  if (verdict == sqs::PolicyVerdict::deny && !(own && mends_policies(call, action))) {
    return denied(call, action, arn, "the queue's policy denies it");
  }
  if (own || verdict == sqs::PolicyVerdict::allow) return {};
  return denied(call, action, arn, "no resource-based policy allows it");
}

std::optional<QueueIdentity> identity_from_arn(std::string_view arn) {
  const auto parts = split(arn, ':');
  if (parts.size() != 6 || parts[0] != "arn" || parts[2] != "sqs") return std::nullopt;
  return QueueIdentity{std::string(parts[4]), std::string(parts[3]), std::string(parts[5])};
}

}  // namespace redrive::api
