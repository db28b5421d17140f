// Messages moved to another queue by those who received them.

#include <algorithm>

#include "engine/engine.h"

namespace redrive::engine {
namespace {

using queue::Change;

// A record holds no more new contents than this and one message.
constexpr std::size_t kMoveRecordBytes = 1u << 20;

// The facts of some moves, a record of them at a time.
class MoveRecords {
 public:
  MoveRecords(Turn& turn, const queue::Queue& from, const Signature& by)
      : turn_(turn), from_(from) {
    actor_ = turn.name(by.actor, changes_);
    reason_ = turn.name(by.reason, changes_);
  }

  Result<Uuid> add(const Move& move) {
    const queue::State& state = turn_.state();
    const queue::Slot slot = TRY(queue::find_delivered(state, from_, move.handle));
    const queue::Message& message = state.messages()[slot];
    const bool again = std::ranges::find(moved_, message.key) != moved_.end();
    if (again || message.body != move.of) {
      return fail(ErrorCode::resource_not_found, "The message has changed in the meantime.");
    }
    const queue::Queue& to = *TRY(turn_.queue(move.destination));
    if (to.settings.is_fifo() != from_.settings.is_fifo()) {
      return fail(ErrorCode::invalid_parameter_value,
                  "Source and destination queues must be of the same type.");
    }
    return append(move, message.key, to);
  }

  void commit() {
    if (!moved_.empty()) turn_.commit(changes_);
    changes_.clear();
    moved_.clear();
    bytes_ = 0;
  }

 private:
  Uuid append(const Move& move, queue::MessageKey key, const queue::Queue& to) {
    const Uuid id = turn_.ids().uuid();
    if (!move.stored.empty()) {
      changes_.push_back(queue::MessageEdited{key, actor_, reason_, move.stored, {}});
    }
    queue::MessageRedriven fact{.task = queue::TaskKey::none,
                                .key = key,
                                .from = from_.key,
                                .to = to.key,
                                .message_id = id,
                                .sequence = number(turn_.state().last_key()) + moved_.size() + 1,
                                .actor = actor_,
                                .reason = reason_};
    if (move.delay.count() > 0) fact.visible_at = turn_.stamp().now + move.delay;
    changes_.push_back(fact);
    moved_.push_back(key);
    bytes_ += move.stored.size();
    if (bytes_ >= kMoveRecordBytes) commit();
    return id;
  }

  Turn& turn_;
  const queue::Queue& from_;
  queue::NameIndex actor_{};
  queue::NameIndex reason_{};
  std::vector<Change> changes_;
  std::vector<queue::MessageKey> moved_;  // In the record that is being made.
  std::size_t bytes_ = 0;
};

}  // namespace

Result<DeliveredMessages> Engine::delivered(const queue::QueueIdentity& identity,
                                            std::span<const std::string_view> handles) {
  return turn([&](Turn& turn) -> Result<DeliveredMessages> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::State& state = turn.state();
    DeliveredMessages found{.messages = {}, .pins = BodyPins(store_)};
    for (const std::string_view handle : handles) {
      const auto slot = queue::find_delivered(state, queue, handle);
      if (!slot) {
        found.messages.push_back(std::unexpected(slot.error()));
        continue;
      }
      const auto source = state.messages().history_if(*slot)->dead_letter_source;
      Delivered message{.key = state.messages()[*slot].key,
                        .body = state.messages()[*slot].body,
                        .dead_letter_source = {}};
      if (source != queue::NameIndex::none) message.dead_letter_source = state.name(source);
      found.pins.add(message.body);
      found.messages.push_back(std::move(message));
    }
    return found;
  });
}

Result<std::vector<Result<Uuid>>> Engine::move(const queue::QueueIdentity& identity,
                                               std::span<const Move> moves, const Signature& by) {
  if (!journal_.has_room()) {
    return fail(ErrorCode::service_unavailable, "The disk that holds the journal is full.");
  }
  return turn([&](Turn& turn) -> Result<std::vector<Result<Uuid>>> {
    MoveRecords records(turn, *TRY(turn.queue(identity)), by);
    std::vector<Result<Uuid>> results;
    for (const Move& move : moves) results.push_back(records.add(move));
    records.commit();
    return results;
  });
}

}  // namespace redrive::engine
