#pragma once

#include <type_traits>

#include "aws/sqs/model/actions.h"

namespace redrive::sqs {

template <class Action, class... Others>
inline constexpr bool kIsOneOf = (std::is_same_v<Action, Others> || ...);

// Whether the audit log records an action: those that change queues, not those that send, receive
// or delete messages.
template <class Action>
inline constexpr bool kAudited =
    kIsOneOf<Action, CreateQueue, DeleteQueue, SetQueueAttributes, PurgeQueue, TagQueue, UntagQueue,
             AddPermission, RemovePermission, StartMessageMoveTask, CancelMessageMoveTask>;

}  // namespace redrive::sqs
