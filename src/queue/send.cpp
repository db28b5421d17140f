#include "queue/send.h"

#include <cassert>

namespace redrive::queue {
namespace {

// The outcome of an earlier send with the same deduplication id, in the table or among the
// forerunners.
std::optional<SendOutcome> accepted_before(const Queue& queue, std::span<const DedupId> forerunners,
                                           std::span<const SendOutcome> outcomes, const DedupId& id,
                                           Timestamp now) {
  if (const auto* entry = queue.dedup.find(id, now)) {
    return SendOutcome{
        .message_id = entry->message_id, .sequence = entry->sequence, .duplicate = true};
  }
  for (std::size_t i = 0; i < forerunners.size(); ++i) {
    if (forerunners[i] != id) continue;
    SendOutcome outcome = outcomes[i];
    outcome.duplicate = true;
    return outcome;
  }
  return std::nullopt;
}

}  // namespace

void decide_send(const State& state, const Queue& queue, std::span<const Draft> drafts,
                 const Stamp& stamp, IdSource& ids, std::vector<Change>& changes,
                 std::span<SendOutcome> outcomes) {
  assert(drafts.size() == outcomes.size());
  const bool fifo = queue.settings.is_fifo();
  const bool by_group =
      fifo && queue.settings.fifo->dedup_scope_at_birth == DedupScope::message_group;
  std::vector<DedupId> dedup_ids;
  MessageKey key = state.last_key();
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const Draft& draft = drafts[i];
    if (fifo) {
      const DedupId id = dedup_id(by_group ? draft.group : std::string_view(), draft.dedup);
      const auto before = accepted_before(queue, dedup_ids, outcomes, id, stamp.now);
      dedup_ids.push_back(id);
      if (before) {
        outcomes[i] = *before;
        continue;
      }
    }
    key = next(key);
    outcomes[i] = {.message_id = ids.uuid(), .sequence = fifo ? number(key) : 0};
    changes.push_back(
        MessageSent{.queue = queue.key,
                    .key = key,
                    .message_id = outcomes[i].message_id,
                    .visible_at = stamp.now + draft.delay.value_or(queue.settings.delay),
                    .group = draft.group,
                    .dedup = draft.dedup,
                    .tail = draft.tail,
                    .tail_crc = draft.tail_crc,
                    .body = {}});
  }
}

}  // namespace redrive::queue
