#include "core/queue/send.h"

#include <cassert>

namespace redrive::queue {
namespace {

// The outcome of an earlier send with the same deduplication id, in the table or among the
// predecessors.
std::optional<SendOutcome> accepted_before(const Queue& queue, const Draft& draft,
                                           std::span<const Change> forerunners, Timestamp now) {
  const bool by_group = queue.settings.fifo->dedup_scope_at_birth == DedupScope::message_group;
  const DedupId id = dedup_id(by_group ? draft.group : std::string_view(), draft.dedup);
  if (const auto* entry = queue.dedup.find(id, now)) {
    return SendOutcome{
        .message_id = entry->message_id, .sequence = entry->sequence, .duplicate = true};
  }
  for (const Change& change : forerunners) {
    const auto* sent = change.as<MessageSent>();
    if (sent == nullptr || sent->queue != queue.key || sent->dedup != draft.dedup) continue;
    if (by_group && sent->group != draft.group) continue;
    return SendOutcome{
        .message_id = sent->message_id, .sequence = number(sent->key), .duplicate = true};
  }
  return std::nullopt;
}

// The last key in use, in the state or by the predecessors.
MessageKey last_key(const State& state, std::span<const Change> forerunners) {
  for (auto change = forerunners.rbegin(); change != forerunners.rend(); ++change) {
    if (const auto* sent = change->as<MessageSent>()) return sent->key;
  }
  return state.last_key();
}

}  // namespace

void decide_send(const State& state, const Queue& queue, std::span<const Draft> drafts,
                 const Stamp& stamp, IdSource& ids, std::vector<Change>& changes,
                 std::span<SendOutcome> outcomes) {
  assert(drafts.size() == outcomes.size());
  const bool fifo = queue.settings.is_fifo();
  MessageKey key = last_key(state, changes);
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const Draft& draft = drafts[i];
    if (fifo) {
      if (const auto before = accepted_before(queue, draft, changes, stamp.now)) {
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
