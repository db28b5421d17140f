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

// What is counted of the code that a group's messages met, copied in turn to be read outside.
struct GroupCodes {
  struct Use {
    std::string code_key;
    queue::CodeUse use;
  };
  std::vector<Use> handled;  // In the queues that the messages came from.
  std::vector<Use> failed;   // In the group.
  bool complete = true;      // Nothing had to be forgotten.
  queue::State::Deploys deploys;
};

// In turn.
GroupCodes codes_of(const queue::State& state, const queue::FailureGroup& group);
// Says which deploy did it, as far as that is known.
void tell_deploy(Call& call, const GroupCodes& codes, documents::FailureGroup& out);
// The deploys among the marks of its timeline.
void mark_deploys(documents::FailureGroup& out);

}  // namespace redrive::manage
