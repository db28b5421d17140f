#include "front/authorize.h"

#include <fmt/format.h>

#include <algorithm>

#include "aws/sqs/model/policy_decision.h"
#include "base/pattern.h"
#include "base/text.h"

namespace redrive::front {
namespace {

using auth::AccessKey;
using auth::StatementVerdict;

constexpr std::string_view kSqsPrefix = "sqs:";
constexpr std::string_view kBucketArn = "arn:aws:s3:::";

// AWS writes SQS actions in lower case in this sentence.
std::string action_text(std::string_view name) {
  return name.starts_with(kSqsPrefix) ? to_lower(name) : std::string(name);
}

std::unexpected<Error> denied(const Caller& caller, const Operation& operation,
                              const Resource& resource, std::string_view reason) {
  return fail(ErrorCode::access_denied,
              fmt::format("User: {} is not authorized to perform: {} on resource: {} because {}",
                          caller.key->arn(),
                          action_text(operation.name),
                          resource.arn(),
                          reason));
}

// Calls `visit` with each equivalent action of the operation; stops when it returns false.
template <class Visit>
bool all_actions(const Operation& operation, Visit visit) {
  if (operation.amounts_to.front().empty()) return visit(operation.name);
  return std::ranges::all_of(operation.amounts_to, [&](std::string_view action) {
    return action.empty() || visit(action);
  });
}

// Statements can name the operation or its equivalent actions. A deny of any of them denies it; an
// allow of its name, or of every equivalent action, allows it.
StatementVerdict statements_on(const AccessKey& key, const Operation& operation,
                               const Resource& resource) {
  if (key.statements.empty()) return StatementVerdict::silent;
  const std::string arn = resource.arn();
  const StatementVerdict named = key.statements_on(operation.name, arn);
  if (named == StatementVerdict::deny) return named;
  StatementVerdict verdict = StatementVerdict::allow;
  all_actions(operation, [&](std::string_view action) {
    const StatementVerdict one = key.statements_on(action, arn);
    if (one != StatementVerdict::allow) verdict = one;
    return one != StatementVerdict::deny;
  });
  return verdict == StatementVerdict::silent ? named : verdict;
}

bool covers(const AccessKey& key, const Resource& resource) {
  switch (resource.kind) {
    case ResourceKind::account:
    case ResourceKind::server:
      return true;
    default:
      return key.covers(resource.covered_as.empty() ? resource.name : resource.covered_as);
  }
}

// Why role and patterns deny it; empty if they allow it.
std::string obstacle_of(const AccessKey& key, const Operation& operation,
                        const Resource& resource) {
  if (!auth::has_right(key.role, operation.right)) {
    return fmt::format("the role {} does not allow it", auth::role_name(key.role));
  }
  if (resource.kind == ResourceKind::server && key.restricted()) {
    return "it concerns the whole server, and the key has name patterns";
  }
  if (!covers(key, resource)) {
    return resource.kind == ResourceKind::queue ? "the key's patterns do not match the queue"
                                                : "the key's patterns do not match the name";
  }
  // A role's policies grant rights to functions, beyond the names that the key covers.
  const bool grants =
      resource.kind == ResourceKind::role && operation.right == auth::Right::administer;
  if (grants && key.restricted()) return "a key with name patterns cannot grant rights";
  return {};
}

std::string_view owner_only(ResourceKind kind) {
  if (kind == ResourceKind::queue) return "only the account that owns the queue may do it";
  if (kind == ResourceKind::server) return "it concerns the whole server, not only this account";
  return "it belongs to another account";
}

// The verbs of a batch are those of its messages.
std::string_view action_in_policies(std::string_view action) {
  constexpr std::string_view kBatch = "Batch";
  if (action.starts_with(kSqsPrefix)) action.remove_prefix(kSqsPrefix.size());
  if (action.ends_with(kBatch)) action.remove_suffix(kBatch.size());
  return action;
}

// A policy that denies everything must not lock out the admins who could change it.
bool mends_policies(const AccessKey& key, std::string_view operation) {
  constexpr std::array<std::string_view, 5> kMending = {"sqs:SetQueueAttributes",
                                                        "sqs:AddPermission",
                                                        "sqs:GetQueueAttributes",
                                                        "sqs:RemovePermission",
                                                        "sqs:DeleteQueue"};
  return key.role == auth::Role::admin && std::ranges::find(kMending, operation) != kMending.end();
}

sqs::PolicyVerdict policy_verdict(const Caller& caller, const Operation& operation,
                                  const Resource& queue, std::string_view policy) {
  const std::string arn = queue.arn();
  const std::string caller_arn = caller.key->arn();
  sqs::PolicyVerdict verdict = sqs::PolicyVerdict::allow;
  all_actions(operation, [&](std::string_view action) {
    const auto one = sqs::evaluate_policy(policy,
                                          {.action = action_in_policies(action),
                                           .resource = arn,
                                           .caller_account = caller.account,
                                           .caller_arn = caller_arn,
                                           .source_ip = caller.peer,
                                           .secure = caller.secure});
    if (one != sqs::PolicyVerdict::allow) verdict = one;
    return one != sqs::PolicyVerdict::deny;
  });
  return verdict;
}

std::unexpected<Error> unauthenticated() {
  return fail(ErrorCode::missing_authentication_token, "The request is not signed.");
}

Result<void> decide_by_owner(const Caller& caller, const Operation& operation,
                             const Resource& resource, std::string_view policy) {
  const bool own = resource.account == caller.account;
  const bool queue = resource.kind == ResourceKind::queue;
  if (!own && !(queue && operation.shareable)) {
    return denied(caller, operation, resource, owner_only(resource.kind));
  }
  if (!queue || (own && policy.empty())) return {};
  const sqs::PolicyVerdict verdict = policy_verdict(caller, operation, resource, policy);
  if (verdict == sqs::PolicyVerdict::deny &&
      !(own && mends_policies(*caller.key, operation.name))) {
    return denied(caller, operation, resource, "the queue's policy denies it");
  }
  if (own || verdict == sqs::PolicyVerdict::allow) return {};
  return denied(caller, operation, resource, "no resource-based policy allows it");
}

}  // namespace

std::string Resource::arn() const {
  switch (kind) {
    case ResourceKind::queue:
      return fmt::format("arn:aws:sqs:{}:{}:{}", region, account, name);
    case ResourceKind::function:
      return fmt::format("arn:aws:lambda:{}:{}:function:{}", region, account, name);
    case ResourceKind::bucket:
      return fmt::format("{}{}{}{}", kBucketArn, name, object.empty() ? "" : "/", object);
    case ResourceKind::alarm:
      return fmt::format("arn:aws:cloudwatch:{}:{}:alarm:{}", region, account, name);
    case ResourceKind::parameter:
      return fmt::format("arn:aws:ssm:{}:{}:parameter{}{}",
                         region,
                         account,
                         name.starts_with('/') ? "" : "/",
                         name);
    case ResourceKind::role:
      return fmt::format("arn:aws:iam::{}:{}", account, name);
    case ResourceKind::account:
    case ResourceKind::server:
      break;
  }
  return "*";
}

Resource resource_of(const queue::QueueIdentity& queue) {
  return {.kind = ResourceKind::queue,
          .account = queue.account,
          .region = queue.region,
          .name = queue.name};
}

Resource bucket_resource(std::string_view owner, std::string_view name, std::string_view object) {
  return {.kind = ResourceKind::bucket, .account = owner, .name = name, .object = object};
}

Resource function_resource(std::string_view account, std::string_view region,
                           std::string_view name) {
  return {.kind = ResourceKind::function, .account = account, .region = region, .name = name};
}

Resource account_resource(std::string_view account) {
  return {.kind = ResourceKind::account, .account = account};
}

Resource server_resource(const Gate& gate) {
  return {.kind = ResourceKind::server, .account = gate.account()};
}

Result<void> decide(const Caller& caller, const Operation& operation, const Resource& resource,
                    std::string_view policy) {
  if (resource.kind == ResourceKind::queue && queue::is_internal_name(resource.name)) {
    return fail(ErrorCode::queue_does_not_exist, "The specified queue does not exist.");
  }
  if (caller.anonymous) return unauthenticated();
  if (caller.key == nullptr) return {};
  const StatementVerdict said = statements_on(*caller.key, operation, resource);
  if (said == StatementVerdict::deny) {
    return denied(caller, operation, resource, "a statement of the key's policy denies it");
  }
  // A statement applies to its own account only.
  if (said == StatementVerdict::silent || resource.kind == ResourceKind::server) {
    const std::string obstacle = obstacle_of(*caller.key, operation, resource);
    if (!obstacle.empty()) return denied(caller, operation, resource, obstacle);
  }
  return decide_by_owner(caller, operation, resource, policy);
}

Result<void> authorize_role(const Caller& caller, const Operation& operation) {
  if (caller.anonymous) return unauthenticated();
  const AccessKey* const key = caller.key;
  if (key == nullptr || !key->statements.empty() || auth::has_right(key->role, operation.right)) {
    return {};
  }
  return denied(caller,
                operation,
                account_resource(caller.account),
                fmt::format("the role {} does not allow it", auth::role_name(key->role)));
}

Result<void> authorize(const queue::State& state, const Caller& caller, const Operation& operation,
                       const Resource& resource) {
  if (caller.key == nullptr || resource.kind != ResourceKind::queue) {
    return decide(caller, operation, resource, {});
  }
  const queue::Queue* const found = state.find(queue::QueueIdentity{
      std::string(resource.account), std::string(resource.region), std::string(resource.name)});
  return decide(caller,
                operation,
                resource,
                found == nullptr ? std::string_view() : std::string_view(found->settings.policy));
}

Result<void> authorize(engine::Engine& engine, const Caller& caller, const Operation& operation,
                       const Resource& resource) {
  if (caller.key == nullptr || resource.kind != ResourceKind::queue) {
    return decide(caller, operation, resource, {});
  }
  // The policy is read outside the turn: parsing it takes microseconds.
  using Settings = std::shared_ptr<const queue::QueueSettings>;
  const Settings settings = engine.turn([&](engine::Turn& turn) -> Settings {
    const queue::Queue* const found = turn.state().find(queue::QueueIdentity{
        std::string(resource.account), std::string(resource.region), std::string(resource.name)});
    return found == nullptr ? nullptr : found->published;
  });
  return decide(caller,
                operation,
                resource,
                settings == nullptr ? std::string_view() : std::string_view(settings->policy));
}

Result<void> authorize_objects(const Caller& caller, const Operation& operation,
                               const std::string& name, const BucketOwner& bucket_owner) {
  const auto owner = bucket_owner ? bucket_owner(name) : std::nullopt;
  return decide(caller, operation, bucket_resource(owner.value_or(caller.account), name, "*"), {});
}

Result<void> authorize_target(engine::Engine& engine, const Caller& caller, std::string_view target,
                              const BucketOwner& bucket_owner) {
  if (const auto queue = identity_from_arn(target)) {
    return authorize(engine, caller, kSendToQueue, resource_of(*queue));
  }
  if (const auto function = function_from_arn(target)) {
    return decide(caller,
                  kInvokeFunction,
                  function_resource(function->account, function->region, function->name),
                  {});
  }
  if (target.starts_with(kBucketArn)) {
    const std::string_view path = target.substr(kBucketArn.size());
    return authorize_objects(
        caller, kPutObject, std::string(path.substr(0, path.find('/'))), bucket_owner);
  }
  return {};
}

std::optional<queue::QueueIdentity> identity_from_arn(std::string_view arn) {
  const auto parts = split(arn, ':');
  if (parts.size() != 6 || parts[0] != "arn" || parts[2] != "sqs") return std::nullopt;
  return queue::QueueIdentity{std::string(parts[4]), std::string(parts[3]), std::string(parts[5])};
}

std::optional<FunctionName> function_from_arn(std::string_view arn) {
  const auto parts = split(arn, ':');
  const bool fits =
      parts.size() >= 7 && parts[0] == "arn" && parts[2] == "lambda" && parts[5] == "function";
  if (!fits) return std::nullopt;
  return FunctionName{.account = parts[4], .region = parts[3], .name = parts[6]};
}

}  // namespace redrive::front
