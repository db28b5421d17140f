#pragma once

#include "aws/sqs/call.h"
#include "aws/sqs/model/actions.h"
#include "base/result.h"

// One function per action, independent of the protocol.

namespace redrive::sqs {

Result<SendMessageOutput> run(Call& call, const SendMessageInput& input);
Result<SendMessageBatchOutput> run(Call& call, const SendMessageBatchInput& input);
Result<DeleteMessageOutput> run(Call& call, const DeleteMessageInput& input);
Result<DeleteMessageBatchOutput> run(Call& call, const DeleteMessageBatchInput& input);
Result<ChangeMessageVisibilityOutput> run(Call& call, const ChangeMessageVisibilityInput& input);
Result<ChangeMessageVisibilityBatchOutput> run(Call& call,
                                               const ChangeMessageVisibilityBatchInput& input);

Result<CreateQueueOutput> run(Call& call, const CreateQueueInput& input);
Result<DeleteQueueOutput> run(Call& call, const DeleteQueueInput& input);
Result<GetQueueUrlOutput> run(Call& call, const GetQueueUrlInput& input);
Result<ListQueuesOutput> run(Call& call, const ListQueuesInput& input);
Result<ListDeadLetterSourceQueuesOutput> run(Call& call,
                                             const ListDeadLetterSourceQueuesInput& input);
Result<GetQueueAttributesOutput> run(Call& call, const GetQueueAttributesInput& input);
Result<SetQueueAttributesOutput> run(Call& call, const SetQueueAttributesInput& input);
Result<PurgeQueueOutput> run(Call& call, const PurgeQueueInput& input);
Result<TagQueueOutput> run(Call& call, const TagQueueInput& input);
Result<UntagQueueOutput> run(Call& call, const UntagQueueInput& input);
Result<ListQueueTagsOutput> run(Call& call, const ListQueueTagsInput& input);
Result<AddPermissionOutput> run(Call& call, const AddPermissionInput& input);
Result<RemovePermissionOutput> run(Call& call, const RemovePermissionInput& input);

Result<StartMessageMoveTaskOutput> run(Call& call, const StartMessageMoveTaskInput& input);
Result<CancelMessageMoveTaskOutput> run(Call& call, const CancelMessageMoveTaskInput& input);
Result<ListMessageMoveTasksOutput> run(Call& call, const ListMessageMoveTasksInput& input);

}  // namespace redrive::sqs
