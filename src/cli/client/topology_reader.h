#pragma once

#include <cstdint>

#include "aws/sqs/model/types.h"
#include "cli/client/failure.h"
#include "cli/client/session.h"
#include "observe/topology/topology.h"

namespace redrive::cli {

// Only Redrive reports the age of a queue's oldest message; it takes one more request for each
// non-empty dead-letter queue.
enum class OldestAges : std::uint8_t { ask, leave_out };

// All queues of the account and their dead-letter queues, from the SQS API, so it works with AWS
// too.
Answer<topology::Topology> read_topology(Session& session, OldestAges ages);

// Converts SQS attributes to a queue.
topology::Queue queue_of_attributes(const sqs::StringMap& attributes);

}  // namespace redrive::cli
