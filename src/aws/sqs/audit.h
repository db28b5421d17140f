#pragma once

#include <type_traits>

#include "aws/sqs/model/actions.h"

namespace redrive::sqs {

template <class Action, class... Others>
inline constexpr bool kIsOneOf = (std::is_same_v<Action, Others> || ...);

// Whether an action changes what operators answer for, rather than moving messages in the ordinary
// way: those are written down with who did them.
template <class Action>
inline constexpr bool kAudited =
    kIsOneOf<Action, CreateQueue, DeleteQueue, SetQueueAttributes, PurgeQueue, TagQueue, UntagQueue,
             AddPermission, RemovePermission, StartMessageMoveTask, CancelMessageMoveTask>;

}  // namespace redrive::sqs
