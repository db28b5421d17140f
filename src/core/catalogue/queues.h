#pragma once

#include <span>

#include "core/engine/turn.h"
#include "core/queue/state.h"

// Queues come, change and go: what is recorded about them. Callers have checked whether it may be
// done; these functions only record it.
namespace redrive::catalogue {

void create_queue(engine::Turn& turn, const queue::QueueIdentity& identity,
                  const queue::QueueSettings& settings, const queue::Tags& tags = {});
// With its hidden queues: discarded, damaged and settled messages go with it.
void delete_queue(engine::Turn& turn, const queue::Queue& queue);
// Exactly these.
void delete_queues(engine::Turn& turn, std::span<const queue::QueueKey> queues);
void change_settings(engine::Turn& turn, const queue::Queue& queue, queue::QueueSettings settings);
void change_tags(engine::Turn& turn, const queue::Queue& queue, queue::Tags tags);
void purge_queue(engine::Turn& turn, const queue::Queue& queue);

}  // namespace redrive::catalogue
