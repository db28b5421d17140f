#pragma once

#include <vector>

#include "manage/call.h"
#include "manage/documents/failures.h"

namespace redrive::manage {

// A group as told, without what sets it apart and without marks. In turn.
documents::FailureGroup describe_group(Call& call, const queue::State& state,
                                       const queue::FailureGroup& group, Timestamp wall);

// What happened to the group's dead-letter queue while the group came: jobs and alarms, oldest
// first. Not in turn.
std::vector<documents::TimelineMark> timeline_marks(Call& call, const queue::QueueIdentity& queue,
                                                    queue::FailureGroupKey group);

}  // namespace redrive::manage
