#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/queue/failure_group.h"
#include "core/queue/state.h"
#include "manage/call.h"
#include "manage/documents/failures.h"

namespace redrive::manage {

// Counts by version of the code that received a group's messages, copied in turn and read outside
// of it.
struct GroupCodes {
  struct Use {
    std::string code_key;
    queue::CodeUse use;
  };
  std::vector<Use> handled;  // In the queues that the messages came from.
  std::vector<Use> failed;   // In the group.
  bool complete = true;      // No version was evicted.
  queue::State::Deploys deploys;
};

// In turn.
GroupCodes codes_of(const queue::State& state, const queue::FailureGroup& group);
// Describes the deploy that the group began with, if known.
void tell_deploy(Call& call, const GroupCodes& codes, documents::FailureGroup& out);
// Adds the deploys to the group's timeline.
void mark_deploys(documents::FailureGroup& out);

}  // namespace redrive::manage
