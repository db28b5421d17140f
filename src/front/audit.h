#pragma once

#include <type_traits>

#include "aws/sqs/model/actions.h"

namespace redrive::front {

template <class Action, class... Others>
inline constexpr bool kIsOneOf = (std::is_same_v<Action, Others> || ...);

// Whether an action changes what operators answer for, rather than moving messages in the ordinary
// way: those are written down with who did them.
template <class Action>
inline constexpr bool kAudited =
    kIsOneOf<Action, sqs::CreateQueue, sqs::DeleteQueue, sqs::SetQueueAttributes, sqs::PurgeQueue,
             sqs::TagQueue, sqs::UntagQueue, sqs::AddPermission, sqs::RemovePermission,
             sqs::StartMessageMoveTask, sqs::CancelMessageMoveTask>;

}  // namespace redrive::front
