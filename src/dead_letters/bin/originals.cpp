#include "dead_letters/bin/originals.h"

namespace redrive::dead_letters {
namespace {

// The history goes on in both: here it ends with the edit.
std::shared_ptr<const queue::History> history_of(const queue::State& state,
                                                 const Original& original,
                                                 const queue::Stamp& stamp) {
  const queue::Message& message = state.messages()[original.slot];
  auto history = std::make_shared<queue::History>();
  if (const queue::History* known = state.messages().history_if(original.slot)) *history = *known;
  history->end_attempt(queue::AttemptEnd::visibility_expired, message.visible_at);
  if (history->origin == queue::NameIndex::none) history->origin = original.queue.arn;
  if (history->sent_wall == Timestamp()) history->sent_wall = original.stored.sent_wall;
  history->prior_receives += message.receive_count;
  history->entered_generation = history->prior_receives;
  history->sequence = 0;
  history->message_id = original.message_id;
  history->job = queue::TaskKey::none;
  history->group = queue::FailureGroupKey::none;
  history->retries = {};
  history->add({.wall = stamp.wall,
                .from = original.queue.arn,
                .actor = original.actor,
                .reason = original.reason,
                .kind = queue::LineageEvent::Kind::replaced});
  return history;
}

}  // namespace

void keep_original(const queue::State& state, const Original& original, const queue::Stamp& stamp,
                   std::vector<queue::Change>& changes) {
  const store::StoredMessage& stored = original.stored;
  changes.push_back(queue::MessageSent{.queue = original.bin.key,
                                       .key = original.key,
                                       .message_id = stored.message_id,
                                       .visible_at = stamp.now,
                                       .group = stored.contents.group,
                                       .dedup = stored.contents.dedup,
                                       .tail = stored.tail,
                                       .tail_crc = stored.tail_crc,
                                       .body = {}});
  changes.push_back(queue::LineageContinued{
      .key = original.key, .archived_as = {}, .history = history_of(state, original, stamp)});
}

}  // namespace redrive::dead_letters
