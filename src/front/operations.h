#pragma once

#include "aws/sqs/model/actions.h"
#include "base/result.h"
#include "front/call.h"

// One function per action: find, check, ask the engine, describe. No protocol here.

namespace redrive::front {

Result<sqs::SendMessageOutput> run(Call& call, const sqs::SendMessageInput& input);
Result<sqs::SendMessageBatchOutput> run(Call& call, const sqs::SendMessageBatchInput& input);
Result<sqs::DeleteMessageOutput> run(Call& call, const sqs::DeleteMessageInput& input);
Result<sqs::DeleteMessageBatchOutput> run(Call& call, const sqs::DeleteMessageBatchInput& input);
Result<sqs::ChangeMessageVisibilityOutput> run(Call& call,
                                               const sqs::ChangeMessageVisibilityInput& input);
Result<sqs::ChangeMessageVisibilityBatchOutput> run(
    Call& call, const sqs::ChangeMessageVisibilityBatchInput& input);

Result<sqs::CreateQueueOutput> run(Call& call, const sqs::CreateQueueInput& input);
Result<sqs::DeleteQueueOutput> run(Call& call, const sqs::DeleteQueueInput& input);
Result<sqs::GetQueueUrlOutput> run(Call& call, const sqs::GetQueueUrlInput& input);
Result<sqs::ListQueuesOutput> run(Call& call, const sqs::ListQueuesInput& input);
Result<sqs::ListDeadLetterSourceQueuesOutput> run(
    Call& call, const sqs::ListDeadLetterSourceQueuesInput& input);
Result<sqs::GetQueueAttributesOutput> run(Call& call, const sqs::GetQueueAttributesInput& input);
Result<sqs::SetQueueAttributesOutput> run(Call& call, const sqs::SetQueueAttributesInput& input);
Result<sqs::PurgeQueueOutput> run(Call& call, const sqs::PurgeQueueInput& input);
Result<sqs::TagQueueOutput> run(Call& call, const sqs::TagQueueInput& input);
Result<sqs::UntagQueueOutput> run(Call& call, const sqs::UntagQueueInput& input);
Result<sqs::ListQueueTagsOutput> run(Call& call, const sqs::ListQueueTagsInput& input);
Result<sqs::AddPermissionOutput> run(Call& call, const sqs::AddPermissionInput& input);
Result<sqs::RemovePermissionOutput> run(Call& call, const sqs::RemovePermissionInput& input);

Result<sqs::StartMessageMoveTaskOutput> run(Call& call,
                                            const sqs::StartMessageMoveTaskInput& input);
Result<sqs::CancelMessageMoveTaskOutput> run(Call& call,
                                             const sqs::CancelMessageMoveTaskInput& input);
Result<sqs::ListMessageMoveTasksOutput> run(Call& call,
                                            const sqs::ListMessageMoveTasksInput& input);

}  // namespace redrive::front
