#pragma once

#include <cstdint>

#include "cli/failure.h"
#include "cli/session.h"
#include "sqs/types.h"
#include "topology/topology.h"

namespace redrive::cli {

// Only Redrive tells how old the oldest message of a queue is, and it takes a question more for
// each dead-letter queue that holds something.
enum class OldestAges : std::uint8_t { ask, leave_out };

// All queues of the account and where their failures go, asked of the SQS API: AWS answers as well.
Answer<topology::Topology> read_topology(Session& session, OldestAges ages);

// A queue of the SQS API's words.
topology::Queue queue_of_attributes(const sqs::StringMap& attributes);

}  // namespace redrive::cli
