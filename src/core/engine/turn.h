#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "core/engine/notice.h"
#include "core/queue/change.h"
#include "core/queue/state.h"
#include "core/store/store.h"

namespace redrive::engine {

// The key or person that acts on messages, and the reason given; both are recorded in histories.
struct Actor {
  std::string_view name;
  std::string_view reason;
};
// The same, as facts refer to it.
struct ActorNames {
  queue::NameIndex actor{};
  queue::NameIndex reason{};
};

// What the facts of one turn mean for extensions.
struct Noted {
  std::vector<queue::TaskKey> tasks;    // Started or changed.
  std::vector<queue::QueueKey> queues;  // Changed their settings, or were deleted.
  std::vector<std::pair<queue::QueueKey, queue::MessageKey>> dead_letters;  // New in these queues.

  bool any() const { return !tasks.empty() || !queues.empty() || !dead_letters.empty(); }
};

// Read access to everything, and the right to change it, for as long as the engine's turn lasts.
class Turn {
 public:
  const queue::State& state() const { return store_.state(); }
  const queue::Stamp& stamp() const { return stamp_; }
  IdSource& ids() { return ids_; }
  // The queue, advanced to this moment; an error when there is none.
  Result<queue::Queue*> queue(const queue::QueueIdentity& identity);
  Result<queue::Queue*> queue(queue::QueueKey key);
  void commit(std::span<queue::Change> changes);
  void commit(queue::Change change) { commit(std::span(&change, 1)); }
  // A text's index; a new one is added to `changes` and becomes known with them.
  queue::NameIndex name(std::string_view text, std::vector<queue::Change>& changes);
  ActorNames names(const Actor& by, std::vector<queue::Change>& changes);

  // For extensions.
  //
  // The queue, hidden or not; null when there is none. Neither advanced nor counted as used.
  queue::Queue* find(const queue::QueueIdentity& identity) { return store_.state().find(identity); }
  queue::Queue* find(queue::QueueKey key) { return store_.state().find(key); }
  // Applies the passage of time to a queue, and schedules its waiting receives.
  void advance(queue::Queue& queue);
  // A hidden queue, advanced to now. Created with these settings if missing.
  queue::Queue& hidden_queue(const queue::QueueIdentity& identity,
                             const queue::QueueSettings& settings);
  // Whether this turn has used up its budget of work: the rest is left to the next one.
  bool is_spent() const { return state().work() - work_before_ > kWorkPerTurn; }
  store::Store& store() { return store_; }

 private:
  friend class Engine;
  // A unit of work takes at most half a microsecond.
  static constexpr std::uint64_t kWorkPerTurn = 1000;

  Turn(store::Store& store, IdSource& ids, queue::Stamp stamp, std::uint64_t work_before,
       std::vector<queue::QueueKey>& touched, std::vector<Notice>* notices)
      : store_(store),
        ids_(ids),
        stamp_(stamp),
        work_before_(work_before),
        touched_(touched),
        notices_(notices) {}
  void note(const queue::Change& change);
  queue::Queue* use(queue::Queue& queue);

  store::Store& store_;
  IdSource& ids_;
  queue::Stamp stamp_;
  std::uint64_t work_before_;
  std::vector<queue::QueueKey>& touched_;  // Queues in which something may have become receivable.
  std::vector<Notice>* notices_;           // Null: notices are not wanted.
  Noted noted_;
  bool queues_changed_ = false;
  std::size_t serves_left_ = 100;         // Waiting receives that may be tried before other work.
  std::size_t empty_answers_left_ = 256;  // Waiting receives that may end without a message.
};

}  // namespace redrive::engine
