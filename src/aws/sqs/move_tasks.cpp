// StartMessageMoveTask, CancelMessageMoveTask, ListMessageMoveTasks.

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "aws/sqs/access.h"
#include "aws/sqs/model/redrive_documents.h"
#include "aws/sqs/operations.h"
#include "base/padded_text.h"
#include "base/text.h"
#include "dead_letters/jobs/job_control.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

namespace redrive::sqs {
namespace {

using engine::Turn;
using queue::MoveTask;
using queue::Queue;
using queue::TaskStatus;

constexpr std::string_view kBusy =
    "There is already a task running. Only one active task is allowed for a source queue arn at a "
    "given time.";

Result<void> check_arn(std::string_view parameter, std::string_view arn) {
  if (split(arn, ':').size() == 6 && arn.starts_with("arn:")) return {};
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("You must use this format to specify the {}: "
                          "arn:<partition>:<service>:<region>:<account-id>:<resource-id>",
                          parameter));
}

std::unexpected<Error> no_such_resource(std::string_view parameter) {
  return fail(ErrorCode::resource_not_found,
              fmt::format("The resource that you specified for the {} parameter doesn't exist.",
                          parameter));
}

std::string handle_of(const MoveTask& task) {
  std::string json;
  const std::string id = task.id.text();
  wire::encode_json(json, TaskHandleDocument{id, task.source_arn});
  return base64_encode(json);
}

struct TaskReference {
  Uuid id;
  std::string source_arn;
};

std::optional<TaskReference> open_handle(std::string_view handle) {
  const auto json = base64_decode(handle);
  if (!json) return std::nullopt;
  const PaddedText padded(*json);
  wire::Decoder decoder;
  TaskHandleDocument document;
  if (!wire::decode_json(decoder, padded, document)) return std::nullopt;
  const auto id = Uuid::parse(document.task_id);
  if (!id) return std::nullopt;
  return TaskReference{*id, std::string(document.source_arn)};
}

std::string_view status_text(TaskStatus status) {
  switch (status) {
    case TaskStatus::running:
    case TaskStatus::paused:  // Statuses that SQS does not have.
    case TaskStatus::halted:
      return "RUNNING";
    case TaskStatus::completed:
      return "COMPLETED";
    case TaskStatus::cancelled:
      return "CANCELLED";
    case TaskStatus::failed:
      return "FAILED";
  }
  return "FAILED";
}

ListMessageMoveTasksResultEntry describe(Call& call, const MoveTask& task) {
  ListMessageMoveTasksResultEntry entry;
  if (task.status == TaskStatus::running) entry.task_handle = call.keep(handle_of(task));
  entry.status = status_text(task.status);
  entry.source_arn = call.keep(task.source_arn);
  if (!task.destination_arn.empty()) entry.destination_arn = call.keep(task.destination_arn);
  if (task.rate > 0) entry.max_number_of_messages_per_second = static_cast<std::int32_t>(task.rate);
  entry.approximate_number_of_messages_moved = static_cast<std::int64_t>(task.counts.moved);
  entry.approximate_number_of_messages_to_move = static_cast<std::int64_t>(task.to_move);
  if (task.status == TaskStatus::failed) entry.failure_reason = call.keep(task.failure);
  entry.started_timestamp = task.started_wall.ms();
  return entry;
}

}  // namespace

std::optional<queue::QueueIdentity> identity_from_task_handle(std::string_view handle) {
  const auto reference = open_handle(handle);
  return reference ? front::identity_from_arn(reference->source_arn) : std::nullopt;
}

Result<StartMessageMoveTaskOutput> run(Call& call, const StartMessageMoveTaskInput& input) {
  RETURN_IF_ERROR(check_arn("SourceArn", input.source_arn));
  if (input.destination_arn) RETURN_IF_ERROR(check_arn("DestinationArn", *input.destination_arn));
  return call.engine.turn([&](Turn& turn) -> Result<StartMessageMoveTaskOutput> {
    const auto& state = turn.state();
    const Queue* found = state.find_by_arn(input.source_arn);
    if (found == nullptr) return no_such_resource("SourceArn");
    const Queue& source = *TRY(turn.queue(found->identity));
    if (!dead_letters::is_dead_letter_target(state, source)) {
      return fail(ErrorCode::invalid_parameter_value,
                  "Source queue must be configured as a Dead Letter Queue.");
    }
    if (input.destination_arn) {
      const Queue* destination = state.find_by_arn(*input.destination_arn);
      if (destination == nullptr || destination->identity.is_hidden())
        return no_such_resource("DestinationArn");
      RETURN_IF_ERROR(dead_letters::check_destination(source, *destination));
    }
    const MoveTask* const task = TRY(dead_letters::start_job(
        turn,
        {.source = source,
         .source_arn = input.source_arn,
         .destination_arn = input.destination_arn.value_or(""),
         .rate = static_cast<std::uint32_t>(input.max_number_of_messages_per_second.value_or(0)),
         .to_move = state.mailbox(source).visible(),
         .plan = queue::TaskPlan(),
         .busy = kBusy}));
    return StartMessageMoveTaskOutput{call.keep(handle_of(*task))};
  });
}

Result<CancelMessageMoveTaskOutput> run(Call& call, const CancelMessageMoveTaskInput& input) {
  const auto reference = open_handle(input.task_handle);
  if (!reference)
    return fail(ErrorCode::invalid_parameter_value, "Value for parameter TaskHandle is invalid.");
  return call.engine.turn([&](Turn& turn) -> Result<CancelMessageMoveTaskOutput> {
    if (turn.state().find_by_arn(reference->source_arn) == nullptr)
      return no_such_resource("SourceArn");
    const MoveTask* task = turn.state().find_task(reference->id);
    // The handle names the queue that the caller was authorised for, so it must be the task's.
    if (task == nullptr || task->source_arn != reference->source_arn) {
      return fail(ErrorCode::resource_not_found, "Task does not exist.");
    }
    if (is_over(task->status)) {
      return fail(ErrorCode::invalid_parameter_value, "Only active tasks can be cancelled.");
    }
    const auto moved = static_cast<std::int64_t>(task->counts.moved);
    dead_letters::cancel_job(turn, *task);
    return CancelMessageMoveTaskOutput{moved};
  });
}

Result<ListMessageMoveTasksOutput> run(Call& call, const ListMessageMoveTasksInput& input) {
  RETURN_IF_ERROR(check_arn("SourceArn", input.source_arn));
  const std::size_t max = static_cast<std::size_t>(input.max_results.value_or(1));
  return call.engine.turn([&](Turn& turn) -> Result<ListMessageMoveTasksOutput> {
    const Queue* source = turn.state().find_by_arn(input.source_arn);
    if (source == nullptr || source->identity.is_hidden()) return no_such_resource("SourceArn");
    ListMessageMoveTasksOutput output;
    for (const queue::TaskKey key : std::views::reverse(turn.state().tasks_of(source->key))) {
      if (output.results.size() == max) break;
      output.results.push_back(describe(call, *turn.state().find_task(key)));
    }
    return output;
  });
}

}  // namespace redrive::sqs
