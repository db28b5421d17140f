// Failure reports of consumers.

#include "core/engine/engine.h"
#include "core/engine/error_bounds.h"
#include "dead_letters/triage/characters.h"
#include "dead_letters/triage/shorten_stack.h"

namespace redrive::engine {
namespace {

using queue::Change;

constexpr std::size_t kErrorTypeBytesMax = 256;
constexpr std::size_t kErrorMessageBytesMax = 1024;
constexpr std::size_t kErrorStackBytesMax = 4096;
constexpr std::size_t kErrorLogBytesMax = 2048;  // Its end.

}  // namespace

queue::ErrorText bounded(const queue::ErrorText& text) {
  return {.type = triage::cut(text.type, kErrorTypeBytesMax),
          .message = triage::cut(text.message, kErrorMessageBytesMax),
          .stack = triage::shorten_stack(text.stack, kErrorStackBytesMax),
          .fingerprint = triage::cut(text.fingerprint, kErrorTypeBytesMax),
          .log = text.log.size() <= kErrorLogBytesMax
                     ? text.log
                     : text.log.substr(text.log.size() - kErrorLogBytesMax)};
}

Result<queue::QueueIdentity> Engine::queue_of_handle(std::string_view text) {
  return turn([&](Turn& turn) REQUIRES(mutex_) -> Result<queue::QueueIdentity> {
    const auto handle = queue::ReceiptHandle::open(turn.state().secret(), text);
    const queue::Queue* queue = handle ? turn.state().find(handle->queue) : nullptr;
    if (queue == nullptr) {
      return fail(ErrorCode::receipt_handle_is_invalid,
                  "The receipt handle does not belong to an existing queue.");
    }
    return queue->identity;
  });
}

Result<void> Engine::report_failure(const queue::QueueIdentity& identity, FailureReport report) {
  queue::ErrorText error = bounded(report.error);
  return turn([&](Turn& turn) REQUIRES(mutex_) -> Result<void> {
    queue::Queue& queue = *TRY(turn.queue(identity));
    const auto& errors = turn.state().errors();
    const queue::FailureDecision decision = TRY(queue::decide_report_failure(
        turn.state(), queue, report.handle, report.disposition, report.retry_after, turn.stamp()));
    if (errors.full()) error = {.type = error.type};
    if (!errors.has_room_for_logs()) error.log.clear();
    std::vector<Change> changes;
    queue::ErrorKey key = errors.find(error);
    if (key == queue::ErrorKey::none) {
      key = next(errors.last());
      changes.push_back(queue::ErrorLearned{key, error});
    }
    changes.push_back(queue::FailureReported{queue.key,
                                             decision.key,
                                             key,
                                             decision.visible_at,
                                             std::move(report.retries),
                                             report.company});
    if (decision.dead_lettered) changes.push_back(*decision.dead_lettered);
    turn.commit(changes);
    return {};
  });
}

}  // namespace redrive::engine
