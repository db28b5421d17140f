// Applies facts about archived messages and continued histories.

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/queue/state.h"

namespace redrive::queue {

void State::on(const MessageArchived& fact, const Stamp& stamp) {
  last_key_ = std::max(last_key_, static_cast<MessageKey>(fact.sequence));
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance(*queue, stamp.now);
  const Slot slot = expect_message(*queue, fact.key);
  if (slot == kNoSlot) return;  // While loading: a snapshot of archived messages contains it.
  end_delivery(slot, stamp.now);
  ArchivedLineage archived{.lineage = fact.lineage,
                           .message_id = fact.message_id,
                           .from = queue->arn,
                           .archived_wall = stamp.wall,
                           .place = std::string(fact.place),
                           .history = messages_.history(slot)};
  archived.history.job = TaskKey::none;
  archived.history.retries = {};
  if (archived.history.origin == NameIndex::none) archived.history.origin = queue->arn;
  archived.history.add({.wall = stamp.wall,
                        .from = queue->arn,
                        .actor = fact.actor,
                        .reason = fact.reason,
                        .kind = LineageEvent::Kind::archived});
  remember_archived(fact.sequence, std::move(archived));
  remove(mailbox(*queue), slot, Outcome::gone);
}

void State::remember_archived(std::uint64_t sequence, ArchivedLineage archived) {
  hold_errors(archived.history);
  const auto gone = archived_.put(sequence, std::move(archived));
  if (gone) let_go_errors(gone->history);
}

void State::forget_archived() {
  for (const auto& [place, archived] : archived_.entries()) let_go_errors(archived.history);
  work_ += archived_.entries().size() / 4;  // At most ArchivedLineages::kMax.
  remains_.archived.push_back(std::exchange(archived_, {}));
}

void State::on(const LineageContinued& fact, const Stamp& stamp) {
  assert(fact.history != nullptr);
  if (fact.archived_as) archived_.note_restored(*fact.archived_as, stamp.wall);
  const Slot slot = messages_.find(fact.key);
  if (slot == kNoSlot) return;  // Its queue is gone; possible only after a repair.
  let_go_errors(slot);
  messages_.history(slot) = *fact.history;
  hold_errors(*fact.history);
}

void State::on(const ArchivedSnapshot& fact, const Stamp&) {
  if (!loading_) return;
  assert(fact.restored != nullptr);
  remember_archived(fact.sequence, *fact.restored);
}

}  // namespace redrive::queue
