#pragma once

#include <string>
#include <string_view>

#include "api/call.h"
#include "sqs/actions.h"

namespace redrive::api {

// Whether an action changes what operators answer for, rather than moving messages in the ordinary
// way: those are written down with who did them.
template <class Action>
inline constexpr bool kAudited = false;
template <>
inline constexpr bool kAudited<sqs::CreateQueue> = true;
template <>
inline constexpr bool kAudited<sqs::DeleteQueue> = true;
template <>
inline constexpr bool kAudited<sqs::SetQueueAttributes> = true;
template <>
inline constexpr bool kAudited<sqs::PurgeQueue> = true;
template <>
inline constexpr bool kAudited<sqs::TagQueue> = true;
template <>
inline constexpr bool kAudited<sqs::UntagQueue> = true;
template <>
inline constexpr bool kAudited<sqs::AddPermission> = true;
template <>
inline constexpr bool kAudited<sqs::RemovePermission> = true;
template <>
inline constexpr bool kAudited<sqs::StartMessageMoveTask> = true;
template <>
inline constexpr bool kAudited<sqs::CancelMessageMoveTask> = true;

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
