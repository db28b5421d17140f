#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/engine/engine.h"
#include "core/queue/ids.h"
#include "front/gate.h"
#include "net/auth/access_key.h"

// Authorisation: one decision function for every API of the server.
namespace redrive::front {

enum class ResourceKind : std::uint8_t {
  queue,
  function,
  bucket,
  alarm,
  parameter,  // Of Parameter Store.
  role,       // Of IAM, and its policies: changing them grants rights, so no restricted key may.
  account,    // Lists and settings of a whole account: only the account is compared.
  server,     // Of all accounts together: the log, the clock, the notification targets.
};

// The resource of a request. The views must outlive the decision.
struct Resource {
  ResourceKind kind = ResourceKind::account;
  std::string_view account;  // The owner.
  std::string_view region = {};
  std::string_view name = {};
  // The name that a key's patterns are compared with, if it differs: access to an alarm depends on
  // the queue or function that it watches.
  std::string_view covered_as = {};
  std::string_view object = {};  // The key of an object in a bucket; `*` for any.

  std::string arn() const;
};

Resource resource_of(const queue::QueueIdentity& queue);
Resource bucket_resource(std::string_view owner, std::string_view name,
                         std::string_view object = {});
// `name` is the function's alone, without account and qualifier.
Resource function_resource(std::string_view account, std::string_view region,
                           std::string_view name);
Resource account_resource(std::string_view account);
Resource server_resource(const Gate& gate);

// The operation of a request.
struct Operation {
  std::string_view name;  // For messages: `sqs:SendMessage`, `redrive:purgeQueue`.
  auth::Right right = auth::Right::administer;
  bool shareable = false;  // A queue's policy can grant it to another account.
  // The equivalent actions, as policies and statements name them; none: its own name. A
  // management operation on a queue is denied where any of these is denied.
  std::array<std::string_view, 3> amounts_to = {};
};

// Whether the caller may perform the operation on the resource.
//
// It is allowed if all of these hold: the key's role has the right and its patterns cover the name,
// or one of the key's statements allows it; the resource belongs to the caller's account, or is a
// queue whose policy allows an operation that can be shared; and neither a statement nor the
// queue's policy (`policy`, empty if it has none) denies it. Without a key everything is allowed,
// except hidden queues (names with `!`), which do not exist for requests.
//
// Pure. Errors are access_denied and, for hidden queues, queue_does_not_exist.
Result<void> decide(const Caller& caller, const Operation& operation, const Resource& resource,
                    std::string_view policy);

// The same with the policy that the queue has now. The second is for use in turn.
Result<void> authorize(engine::Engine& engine, const Caller& caller, const Operation& operation,
                       const Resource& resource);
Result<void> authorize(const queue::State& state, const Caller& caller, const Operation& operation,
                       const Resource& resource);

// Whether the caller could perform the operation on any resource: for lists, and for operations
// that determine their resources later. Each resource is then decided separately.
Result<void> authorize_role(const Caller& caller, const Operation& operation);

// The owner of a bucket; nothing if it does not exist.
using BucketOwner = std::function<std::optional<std::string>(const std::string&)>;

// Whether a request may name this as a target: something that the server will later send to, invoke
// or write into on behalf of the caller. Takes ARNs of queues, functions and buckets; URLs and ARNs
// of other services are allowed: the policy for outgoing addresses decides about URLs, and nothing
// is ever sent to other services.
Result<void> authorize_target(engine::Engine& engine, const Caller& caller, std::string_view target,
                              const BucketOwner& bucket_owner);

// The operations on targets.
inline constexpr Operation kSendToQueue{
    .name = "sqs:SendMessage", .right = auth::Right::send, .shareable = true};
inline constexpr Operation kInvokeFunction{.name = "lambda:InvokeFunction",
                                           .right = auth::Right::send};
inline constexpr Operation kPutObject{.name = "s3:PutObject", .right = auth::Right::operate};
inline constexpr Operation kGetObject{.name = "s3:GetObject", .right = auth::Right::look};
// To see that a queue exists, and its numbers.
inline constexpr Operation kSeeQueue{
    .name = "sqs:GetQueueAttributes", .right = auth::Right::find, .shareable = true};

// For objects of a bucket. One that does not exist yet would belong to the caller's account.
Result<void> authorize_objects(const Caller& caller, const Operation& operation,
                               const std::string& name, const BucketOwner& bucket_owner);

std::optional<queue::QueueIdentity> identity_from_arn(std::string_view arn);

// A function as an ARN names it.
struct FunctionName {
  std::string_view account;
  std::string_view region;
  std::string_view name;
};
std::optional<FunctionName> function_from_arn(std::string_view arn);

}  // namespace redrive::front
