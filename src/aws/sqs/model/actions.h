#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "aws/sqs/model/batches.h"
#include "aws/sqs/model/messages.h"
#include "aws/sqs/model/move_tasks.h"
#include "aws/sqs/model/queues.h"
#include "aws/sqs/model/tags.h"

// Every action of the API with its name, input and output. Dispatch, tests and help texts iterate
// over AllActions.

namespace redrive::sqs {

struct SendMessage {
  static constexpr std::string_view kName = "SendMessage";
  using Input = SendMessageInput;
  using Output = SendMessageOutput;
};

struct ReceiveMessage {
  static constexpr std::string_view kName = "ReceiveMessage";
  using Input = ReceiveMessageInput;
  using Output = ReceiveMessageOutput;
};

struct DeleteMessage {
  static constexpr std::string_view kName = "DeleteMessage";
  using Input = DeleteMessageInput;
  using Output = DeleteMessageOutput;
};

struct SendMessageBatch {
  static constexpr std::string_view kName = "SendMessageBatch";
  using Input = SendMessageBatchInput;
  using Output = SendMessageBatchOutput;
};

struct DeleteMessageBatch {
  static constexpr std::string_view kName = "DeleteMessageBatch";
  using Input = DeleteMessageBatchInput;
  using Output = DeleteMessageBatchOutput;
};

struct ChangeMessageVisibility {
  static constexpr std::string_view kName = "ChangeMessageVisibility";
  using Input = ChangeMessageVisibilityInput;
  using Output = ChangeMessageVisibilityOutput;
};

struct ChangeMessageVisibilityBatch {
  static constexpr std::string_view kName = "ChangeMessageVisibilityBatch";
  using Input = ChangeMessageVisibilityBatchInput;
  using Output = ChangeMessageVisibilityBatchOutput;
};

struct GetQueueUrl {
  static constexpr std::string_view kName = "GetQueueUrl";
  using Input = GetQueueUrlInput;
  using Output = GetQueueUrlOutput;
};

struct GetQueueAttributes {
  static constexpr std::string_view kName = "GetQueueAttributes";
  using Input = GetQueueAttributesInput;
  using Output = GetQueueAttributesOutput;
};

struct CreateQueue {
  static constexpr std::string_view kName = "CreateQueue";
  using Input = CreateQueueInput;
  using Output = CreateQueueOutput;
};

struct DeleteQueue {
  static constexpr std::string_view kName = "DeleteQueue";
  using Input = DeleteQueueInput;
  using Output = DeleteQueueOutput;
};

struct ListQueues {
  static constexpr std::string_view kName = "ListQueues";
  using Input = ListQueuesInput;
  using Output = ListQueuesOutput;
};

struct SetQueueAttributes {
  static constexpr std::string_view kName = "SetQueueAttributes";
  using Input = SetQueueAttributesInput;
  using Output = SetQueueAttributesOutput;
};

struct PurgeQueue {
  static constexpr std::string_view kName = "PurgeQueue";
  using Input = PurgeQueueInput;
  using Output = PurgeQueueOutput;
};

struct ListDeadLetterSourceQueues {
  static constexpr std::string_view kName = "ListDeadLetterSourceQueues";
  using Input = ListDeadLetterSourceQueuesInput;
  using Output = ListDeadLetterSourceQueuesOutput;
};

struct TagQueue {
  static constexpr std::string_view kName = "TagQueue";
  using Input = TagQueueInput;
  using Output = TagQueueOutput;
};

struct UntagQueue {
  static constexpr std::string_view kName = "UntagQueue";
  using Input = UntagQueueInput;
  using Output = UntagQueueOutput;
};

struct ListQueueTags {
  static constexpr std::string_view kName = "ListQueueTags";
  using Input = ListQueueTagsInput;
  using Output = ListQueueTagsOutput;
};

struct AddPermission {
  static constexpr std::string_view kName = "AddPermission";
  using Input = AddPermissionInput;
  using Output = AddPermissionOutput;
};

struct RemovePermission {
  static constexpr std::string_view kName = "RemovePermission";
  using Input = RemovePermissionInput;
  using Output = RemovePermissionOutput;
};

struct StartMessageMoveTask {
  static constexpr std::string_view kName = "StartMessageMoveTask";
  using Input = StartMessageMoveTaskInput;
  using Output = StartMessageMoveTaskOutput;
};

struct CancelMessageMoveTask {
  static constexpr std::string_view kName = "CancelMessageMoveTask";
  using Input = CancelMessageMoveTaskInput;
  using Output = CancelMessageMoveTaskOutput;
};

struct ListMessageMoveTasks {
  static constexpr std::string_view kName = "ListMessageMoveTasks";
  using Input = ListMessageMoveTasksInput;
  using Output = ListMessageMoveTasksOutput;
};

template <class... Actions>
struct ActionList {
  static constexpr std::size_t kSize = sizeof...(Actions);
  static constexpr std::array<std::string_view, kSize> kNames = {Actions::kName...};

  // Calls `visit.template operator()<Action>()` for each action in turn; a generic lambda
  // `[]<class Action>() { ... }` will do.
  template <class Visit>
  static constexpr void for_each(Visit&& visit) {
    (visit.template operator()<Actions>(), ...);
  }

  // The value of `make.template operator()<Action>()` for each action: a dispatch table, by index.
  template <class Value, class Make>
  static constexpr std::array<Value, kSize> table(Make&& make) {
    return {make.template operator()<Actions>()...};
  }

  // The index of an action.
  static constexpr std::optional<std::size_t> index_of(std::string_view name) {
    for (std::size_t i = 0; i < kSize; ++i) {
      if (kNames[i] == name) return i;
    }
    return std::nullopt;
  }
};

// The most frequent first, because index_of() searches linearly.
using AllActions =
    ActionList<SendMessage, ReceiveMessage, DeleteMessage, SendMessageBatch, DeleteMessageBatch,
               ChangeMessageVisibility, ChangeMessageVisibilityBatch, GetQueueUrl,
               GetQueueAttributes, CreateQueue, DeleteQueue, ListQueues, SetQueueAttributes,
               PurgeQueue, ListDeadLetterSourceQueues, TagQueue, UntagQueue, ListQueueTags,
               AddPermission, RemovePermission, StartMessageMoveTask, CancelMessageMoveTask,
               ListMessageMoveTasks>;

static_assert(AllActions::kSize == 23);

}  // namespace redrive::sqs
