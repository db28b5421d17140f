#include "core/queue/redrive.h"

namespace redrive::queue {

Result<void> check_same_type(const Queue& from, const Queue& to) {
  if (from.settings.is_fifo() == to.settings.is_fifo()) return {};
  return fail(ErrorCode::invalid_parameter_value,
              "Source and destination queues must be of the same type.");
}

MessageRedriven decide_redrive(const Redrive& redrive, MessageKey key, const Uuid& message_id,
                               std::uint64_t sequence) {
  return {.task = redrive.task,
          .key = key,
          .from = redrive.from.key,
          .to = redrive.to.key,
          .message_id = message_id,
          .sequence = sequence,
          .actor = redrive.actor,
          .reason = redrive.reason};
}

}  // namespace redrive::queue
