#include "dead_letters/jobs/decide_start.h"

#include <algorithm>
#include <string>

#include "core/queue/redrive.h"

namespace redrive::dead_letters {
namespace {

// Messages that are examined to find out whether a queue has dead letters.
constexpr std::size_t kDeadLetterLooks = 100;

}  // namespace

Result<void> check_destination(const queue::Queue& source, const queue::Queue& destination) {
  if (&source == &destination) {
    return fail(ErrorCode::invalid_parameter_value,
                "Source queue and destination queue cannot be the same.");
  }
  return queue::check_same_type(source, destination);
}

bool is_dead_letter_target(const queue::State& state, const queue::Queue& queue) {
  return !state.sources_of(queue.identity.arn()).empty();
}

bool has_dead_letters(const queue::State& state, const queue::Queue& queue) {
  const auto& sources = state.sources_of(queue.identity.arn());
  if (std::ranges::any_of(sources, [&](const auto& source) { return source != queue.identity; })) {
    return true;
  }
  const auto slots = state.mailbox(queue).page({}, kDeadLetterLooks);
  return std::ranges::any_of(slots, [&](queue::Slot slot) {
    const queue::History* history = state.messages().history_if(slot);
    return history != nullptr && history->dead_letter_source != queue::NameIndex::none;
  });
}

Result<queue::MoveTaskStarted> decide_start(const queue::State& state, const JobStart& start,
                                            const Uuid& id) {
  if (state.active_task(start.source.key) != nullptr) {
    return fail(ErrorCode::invalid_parameter_value, std::string(start.busy));
  }
  return queue::MoveTaskStarted{.task = next(state.last_task()),
                                .id = id,
                                .source = start.source.key,
                                .source_arn = start.source_arn,
                                .destination_arn = start.destination_arn,
                                .rate = start.rate,
                                .to_move = start.to_move,
                                .plan = start.plan};
}

}  // namespace redrive::dead_letters
