#include "dead_letters/groups/mark.h"

#include <string>
#include <vector>

#include "core/queue/change.h"

namespace redrive::dead_letters {

using queue::GroupStatus;

Result<queue::GroupMarked> decide_mark(const queue::FailureGroup& group, const GroupMark& mark) {
  queue::GroupMarked fact{.group = group.key,
                          .status = mark.status.value_or(group.status),
                          .note = mark.note.value_or(group.note),
                          .actor = queue::NameIndex::none,
                          .owner = mark.owner.value_or(group.owner),
                          .ignored_until = mark.status ? Timestamp() : group.ignored_until,
                          .ignored_to_total = mark.status ? 0 : group.ignored_to_total};
  if ((mark.ignore_until || mark.ignore_count) && fact.status != GroupStatus::ignored) {
    return fail(ErrorCode::invalid_parameter_value,
                "`ignoreUntil` and `ignoreCount` require the status `ignored`.");
  }
  fact.ignored_until = mark.ignore_until.value_or(fact.ignored_until);
  if (mark.ignore_count) fact.ignored_to_total = group.arrivals.total + *mark.ignore_count;
  return fact;
}

Result<void> mark_group(engine::Turn& turn, const queue::FailureGroup& group, const GroupMark& mark,
                        std::string_view actor) {
  queue::GroupMarked fact = TRY(decide_mark(group, mark));
  // Copies: the fact changes the texts it points at.
  const std::string note(fact.note);
  const std::string owner(fact.owner);
  fact.note = note;
  fact.owner = owner;
  std::vector<queue::Change> changes;
  fact.actor = turn.name(actor, changes);
  changes.push_back(fact);
  turn.commit(changes);
  return {};
}

}  // namespace redrive::dead_letters
