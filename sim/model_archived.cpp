// Archived and restored messages, in the model.

#include "sim/model.h"
#include "sim/model_parts.h"
#include "sim/violation.h"

namespace redrive::sim {

using queue::NameIndex;
using queue::Phase;

// Only messages that have used up their redrives or are about to expire, and that are not in
// flight.
void Model::check_policy_archive(const queue::MessageArchived& fact) {
  constexpr std::string_view kPolicies = "a queue archives by itself what its policy says";
  const ModelMessage& message = message_in(fact.queue, fact.key, "archived by policy");
  require(message.phase != Phase::in_flight, kPolicies, "message {} is held", number(fact.key));
  require(message.history.dead_letter_source != NameIndex::none,
          kPolicies,
          "message {} is no dead letter",
          number(fact.key));
}

void Model::on(const queue::MessageArchived& fact) {
  if (is_policy(fact.actor)) check_policy_archive(fact);
  take_sequence(fact.sequence, "archived");
  const ModelQueue& queue = queue_of(fact.queue, "archived from");
  ModelMessage& message = message_in(fact.queue, fact.key, "archived");
  const bool held = message.phase == Phase::in_flight;
  held ? end_attempt(message.history, queue::AttemptEnd::released, now_)
       : end_attempt(message.history, queue::AttemptEnd::visibility_expired, message.visible_at);
  settle(message, &queue::TaskCounts::gone);
  queue::History history = message.history;
  history.job = queue::TaskKey::none;
  history.retries = {};
  if (history.origin == NameIndex::none) history.origin = queue.arn;
  add_event(history,
            {.wall = wall_,
             .from = queue.arn,
             .actor = fact.actor,
             .reason = fact.reason,
             .kind = queue::LineageEvent::Kind::archived});
  archived_[fact.sequence] = {.known = {.lineage = fact.lineage,
                                        .message_id = fact.message_id,
                                        .from = queue.arn,
                                        .archived_wall = wall_,
                                        .place = std::string(fact.place),
                                        .history = std::move(history)},
                              .key = fact.key,
                              .edition = message.edition};
  messages_.erase(fact.key);
}

void Model::on(const queue::LineageContinued& fact) {
  require(number(fact.key) == last_key_,
          kSpeaksOfWhatIs,
          "message {} was not just sent",
          number(fact.key));
  ModelMessage& message = messages_.at(fact.key);
  require(message.history == queue::History{} && !fact.history->events.empty(),
          "a lineage goes on once",
          "message {}",
          number(fact.key));
  message.history = *fact.history;
  const bool back = fact.history->events.back().kind == queue::LineageEvent::Kind::unarchived;
  const bool kept = fact.history->events.back().kind == queue::LineageEvent::Kind::replaced;
  require(back ? fact.archived_as.has_value() : kept,
          "a lineage goes on where it was left",
          "message {}",
          number(fact.key));
  original_kept_ = kept;
  for (auto& [place, archived] : archived_) {
    if (archived.known.message_id == fact.archived_as) archived.known.restored_wall = wall_;
  }
}

}  // namespace redrive::sim
