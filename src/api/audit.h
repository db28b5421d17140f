#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "api/call.h"
#include "sqs/actions.h"

namespace redrive::api {

template <class Action, class... Others>
inline constexpr bool kIsOneOf = (std::is_same_v<Action, Others> || ...);

// Whether an action changes what operators answer for, rather than moving messages in the ordinary
// way: those are written down with who did them.
template <class Action>
inline constexpr bool kAudited =
    kIsOneOf<Action, sqs::CreateQueue, sqs::DeleteQueue, sqs::SetQueueAttributes, sqs::PurgeQueue,
             sqs::TagQueue, sqs::UntagQueue, sqs::AddPermission, sqs::RemovePermission,
             sqs::StartMessageMoveTask, sqs::CancelMessageMoveTask>;

struct AuditEntry {
  std::string_view action;
  std::string queue_arn;  // Empty when the request did not say.
  std::string request;    // The request as a JSON object.
  const Error* error;     // None: it was done.
  std::string_view request_id;
};

// One line of the audit log, without its line end:
// {"time":…,"who":…,"key":…,"account":…,"from":…,"action":…,"queue":…,"outcome":…,"request":{…}}
std::string audit_line(const Call& call, const AuditEntry& entry, Timestamp wall);

}  // namespace redrive::api
