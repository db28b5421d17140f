#pragma once

#include <vector>

#include "manage/call.h"
#include "manage/documents/failures.h"

namespace redrive::manage {

// A group as a document, without findings and timeline. In turn.
documents::FailureGroup describe_group(Call& call, const queue::State& state,
                                       const queue::FailureGroup& group, Timestamp wall);

// Events of the group's dead-letter queue since the group began: jobs and alarms, oldest first. Not
// in turn.
std::vector<documents::TimelineMark> timeline_marks(Call& call, const queue::QueueIdentity& queue,
                                                    queue::FailureGroupKey group);

}  // namespace redrive::manage
