#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "core/engine/turn.h"
#include "core/queue/failure_group.h"

// What operators write about a failure group.
namespace redrive::dead_letters {

// Members that are not set leave the group as it is. A new status ends an earlier ignoring.
struct GroupMark {
  std::optional<queue::GroupStatus> status = {};
  std::optional<std::string_view> note = {};
  std::optional<std::string_view> owner = {};
  std::optional<Timestamp> ignore_until = {};      // Wall time. Requires the status `ignored`,
  std::optional<std::uint64_t> ignore_count = {};  // and so does this: new dead letters to ignore.
};
// The fact, without its actor. Pure.
Result<queue::GroupMarked> decide_mark(const queue::FailureGroup& group, const GroupMark& mark);
// Records it.
Result<void> mark_group(engine::Turn& turn, const queue::FailureGroup& group, const GroupMark& mark,
                        std::string_view actor);

}  // namespace redrive::dead_letters
