#include "core/queue/handle_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/queue/receive.h"

namespace redrive::queue {
namespace {

std::unexpected<Error> refuse_handle(std::string_view handle, std::string_view reason) {
  return fail(
      ErrorCode::invalid_parameter_value,
      fmt::format("Value {} for parameter ReceiptHandle is invalid. Reason: {}", handle, reason));
}

std::unexpected<Error> refuse_foreign(std::string_view handle) {
  return fail(
      ErrorCode::receipt_handle_is_invalid,
      fmt::format("The input receipt handle \"{}\" is not a valid receipt handle.", handle));
}

Result<ReceiptHandle> open_handle(const State& state, const Queue& queue, std::string_view text) {
  const auto handle = ReceiptHandle::open(state.secret(), text);
  if (!handle || handle->queue != queue.key) return refuse_foreign(text);
  return *handle;
}

// The message of a handle, if it has not left the queue since the handle was issued.
Slot find_held(const State& state, const Queue& queue, const ReceiptHandle& handle) {
  const Slot slot = state.find_message(queue, handle.key);
  if (slot == kNoSlot) return kNoSlot;
  const History* history = state.messages().history_if(slot);
  if (history == nullptr || handle.generation <= history->entered_generation) return kNoSlot;
  return slot;
}

bool holds_now(const State& state, Slot slot, const ReceiptHandle& handle) {
  return state.messages()[slot].phase == Phase::in_flight &&
         state.generation(slot) == handle.generation;
}

constexpr std::string_view kExpired = "The receipt handle has expired.";

}  // namespace

Result<std::optional<Deletion>> decide_delete(const State& state, const Queue& queue,
                                              const ReceiptHandle& handle) {
  if (handle.queue != queue.key) return refuse_foreign(handle.text(state.secret()));
  const Slot slot = find_held(state, queue, handle);
  if (slot == kNoSlot) return std::nullopt;
  if (queue.settings.is_fifo() && !holds_now(state, slot, handle))
    return refuse_handle(handle.text(state.secret()), kExpired);
  return Deletion{.fact = {.queue = queue.key, .key = handle.key}, .slot = slot};
}

Result<std::optional<Deletion>> decide_delete(const State& state, const Queue& queue,
                                              std::string_view text, const Stamp&) {
  return decide_delete(state, queue, TRY(open_handle(state, queue, text)));
}

Result<VisibilityChanged> decide_change_visibility(const State& state, const Queue& queue,
                                                   std::string_view text,
                                                   std::chrono::seconds timeout,
                                                   const Stamp& stamp) {
  const ReceiptHandle handle = TRY(open_handle(state, queue, text));
  const Slot slot = find_held(state, queue, handle);
  if (slot == kNoSlot) {
    return refuse_handle(
        text, "Message does not exist or is not available for visibility timeout change.");
  }
  if (queue.settings.is_fifo() && !holds_now(state, slot, handle))
    return refuse_handle(text, kExpired);
  // The twelve hours run from the receive, so that repeated extensions cannot hold a message
  // forever.
  if (stamp.now + timeout >
      state.messages().history_if(slot)->received_at + kVisibilityTimeoutMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("Value {} for parameter VisibilityTimeout is invalid. Reason: Total "
                            "VisibilityTimeout for "
                            "the message is beyond the limit [43200 seconds]",
                            timeout.count()));
  }
  return VisibilityChanged{
      .queue = queue.key, .key = handle.key, .visible_at = stamp.now + timeout};
}

Result<VisibilityChanged> decide_return(const State& state, const Queue& queue,
                                        std::string_view text, std::chrono::seconds timeout,
                                        const Stamp& stamp) {
  VisibilityChanged changed = TRY(decide_change_visibility(state, queue, text, timeout, stamp));
  const ReceiptHandle handle = TRY(open_handle(state, queue, text));
  const Slot slot = find_held(state, queue, handle);
  const std::vector<Attempt>& attempts = state.messages().history_if(slot)->attempts;
  changed.not_run = holds_now(state, slot, handle) && !attempts.empty() &&
                    attempts.back().isolation == Isolation::on &&
                    attempts.back().end == AttemptEnd::open;
  return changed;
}

Result<Slot> find_delivered(const State& state, const Queue& queue, std::string_view text) {
  const ReceiptHandle handle = TRY(open_handle(state, queue, text));
  const Slot slot = find_held(state, queue, handle);
  if (slot == kNoSlot || state.generation(slot) != handle.generation) {
    return fail(ErrorCode::resource_not_found,
                "The message has left the queue, or has been delivered again since.");
  }
  if (queue.settings.is_fifo() && !holds_now(state, slot, handle))
    return refuse_handle(text, kExpired);
  return slot;
}

Result<FailureDecision> decide_report_failure(const State& state, const Queue& queue,
                                              std::string_view text, Disposition disposition,
                                              Duration retry_after, const Stamp& stamp) {
  const ReceiptHandle handle = TRY(open_handle(state, queue, text));
  const Slot slot = find_held(state, queue, handle);
  if (slot == kNoSlot || state.generation(slot) != handle.generation)
    return refuse_handle(text, kExpired);
  FailureDecision decision{.key = handle.key};
  if (disposition == Disposition::none) return decision;
  if (!holds_now(state, slot, handle)) return refuse_handle(text, kExpired);
  if (disposition == Disposition::retry) {
    const Timestamp limit = state.messages().history_if(slot)->received_at + kVisibilityTimeoutMax;
    decision.visible_at = std::min<Timestamp>(stamp.now + retry_after, limit);
    return decision;
  }
  const Queue* target = dead_letter_target(state, queue);
  if (target == nullptr) {
    return fail(ErrorCode::invalid_parameter_value,
                "The queue has no dead-letter queue: set its RedrivePolicy first.");
  }
  decision.dead_lettered = MessageDeadLettered{.key = handle.key,
                                               .from = queue.key,
                                               .to = target->key,
                                               .sequence = number(state.last_key()) + 1,
                                               .why = DeadLetterReason::reported};
  return decision;
}

}  // namespace redrive::queue
