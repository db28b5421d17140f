#include "core/catalogue/queues.h"

#include <cassert>
#include <utility>
#include <vector>

#include "core/queue/change.h"
#include "core/queue/hidden_queues.h"

namespace redrive::catalogue {

void create_queue(engine::Turn& turn, const queue::QueueIdentity& identity,
                  const queue::QueueSettings& settings, const queue::Tags& tags) {
  assert(turn.state().find(identity) == nullptr);
  std::vector<queue::Change> changes;
  const std::string arn = identity.arn();
  const queue::NameIndex name = turn.name(arn, changes);
  changes.push_back(
      queue::QueueCreated{next(turn.state().last_queue()), name, identity, settings, tags});
  turn.commit(changes);
}

void delete_queue(engine::Turn& turn, const queue::Queue& queue) {
  std::vector<queue::QueueKey> gone{queue.key};
  for (const queue::QueueIdentity& hidden : {queue::bin_of(queue.identity),
                                             queue::damaged_of(queue.identity),
                                             queue::settled_of(queue.identity)}) {
    if (const queue::Queue* const found = turn.state().find(hidden)) gone.push_back(found->key);
  }
  delete_queues(turn, gone);
}

void delete_queues(engine::Turn& turn, std::span<const queue::QueueKey> queues) {
  std::vector<queue::Change> changes;
  for (const queue::QueueKey key : queues) changes.push_back(queue::QueueDeleted{key});
  if (!changes.empty()) turn.commit(changes);
}

void change_settings(engine::Turn& turn, const queue::Queue& queue, queue::QueueSettings settings) {
  turn.commit(queue::QueueSettingsChanged{queue.key, std::move(settings)});
}

void change_tags(engine::Turn& turn, const queue::Queue& queue, queue::Tags tags) {
  turn.commit(queue::QueueTagsChanged{queue.key, std::move(tags)});
}

void purge_queue(engine::Turn& turn, const queue::Queue& queue) {
  turn.commit(queue::QueuePurged{queue.key});
}

}  // namespace redrive::catalogue
