#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/engine/engine.h"
#include "core/queue/ids.h"
#include "front/gate.h"

// The queues that dead letters go back to. Each function takes several short turns where there are
// many queues, so none may be called in a turn.
namespace redrive::front {

// The queues whose redrive policies name the queue with this ARN.
std::vector<queue::QueueIdentity> redrive_sources(engine::Engine& engine, std::string_view arn);
// Where dead letters of the queue go when a redrive names no destination: the queues that have it
// as their dead-letter queue now, and those that its failure groups came from.
std::vector<queue::QueueIdentity> dead_letter_sources(engine::Engine& engine, std::string_view arn);
// Whether the caller may send to all of them.
Result<void> authorize_sources(engine::Engine& engine, const Caller& caller, std::string_view arn);

}  // namespace redrive::front
