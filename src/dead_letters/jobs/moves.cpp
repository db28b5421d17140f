#include "dead_letters/jobs/moves.h"

#include <algorithm>

#include "core/queue/redrive.h"

namespace redrive::dead_letters {
namespace {

using engine::Actor;
using engine::BodyPins;
using engine::Turn;
using queue::Change;

// A record holds no more new contents than this and one message.
constexpr std::size_t kMoveRecordBytes = 1u << 20;

// The facts of some moves, a record of them at a time.
class MoveRecords {
 public:
  MoveRecords(Turn& turn, const queue::Queue& from, const Actor& by)
      : turn_(turn), from_(from), by_(turn.names(by, changes_)) {}

  Result<Uuid> add(const Move& move) {
    const queue::State& state = turn_.state();
    const queue::Slot slot = TRY(queue::find_delivered(state, from_, move.handle));
    const queue::Message& message = state.messages()[slot];
    const bool again = std::ranges::find(moved_, message.key) != moved_.end();
    if (again || message.body != move.of) {
      return fail(ErrorCode::resource_not_found, "The message has changed in the meantime.");
    }
    const queue::Queue& to = *TRY(turn_.queue(move.destination));
    RETURN_IF_ERROR(queue::check_same_type(from_, to));
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
      changes_.push_back(queue::MessageEdited{key, by_.actor, by_.reason, move.stored, {}});
    }
    queue::MessageRedriven fact =
        queue::decide_redrive({.from = from_, .to = to, .actor = by_.actor, .reason = by_.reason},
                              key,
                              id,
                              number(turn_.state().last_key()) + moved_.size() + 1);
    if (move.delay.count() > 0) fact.visible_at = turn_.stamp().now + move.delay;
    changes_.push_back(fact);
    moved_.push_back(key);
    bytes_ += move.stored.size();
    if (bytes_ >= kMoveRecordBytes) commit();
    return id;
  }

  Turn& turn_;
  const queue::Queue& from_;
  std::vector<Change> changes_;
  const engine::ActorNames by_;
  std::vector<queue::MessageKey> moved_;  // In the record that is being made.
  std::size_t bytes_ = 0;
};

}  // namespace

Result<DeliveredMessages> Moves::delivered(const queue::QueueIdentity& identity,
                                           std::span<const std::string_view> handles) {
  return engine_.turn([&](Turn& turn) -> Result<DeliveredMessages> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::State& state = turn.state();
    DeliveredMessages found{.messages = {}, .pins = BodyPins(engine_.store())};
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

Result<std::vector<Result<Uuid>>> Moves::move(const queue::QueueIdentity& identity,
                                              std::span<const Move> moves, const Actor& by) {
  RETURN_IF_ERROR(engine_.check_space());
  return engine_.turn([&](Turn& turn) -> Result<std::vector<Result<Uuid>>> {
    MoveRecords records(turn, *TRY(turn.queue(identity)), by);
    std::vector<Result<Uuid>> results;
    for (const Move& move : moves) results.push_back(records.add(move));
    records.commit();
    return results;
  });
}

}  // namespace redrive::dead_letters
