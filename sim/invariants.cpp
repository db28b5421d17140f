#include "sim/invariants.h"

#include <algorithm>
#include <set>

#include "sim/violation.h"

namespace redrive::sim {
namespace {

using queue::Message;
using queue::MessageKey;
using queue::Phase;
using queue::Slot;

// Calls visit(slot, message, queue) for all messages that have not ended.
template <class Visit>
void for_each_live(const View& view, Visit visit) {
  const auto& table = view.state.messages();
  for (Slot slot = 0; slot < table.end(); ++slot) {
    const Message& message = table[slot];
    if (message.key == MessageKey::none || view.state.is_buried(slot)) continue;
    const queue::Queue* queue = view.state.find(view.state.queue_of(slot));
    require(queue != nullptr, "messages live in queues", "message {}", number(message.key));
    if (message.sent_at + queue->settings.retention > view.now) visit(slot, message, *queue);
  }
}

Phase phase_at(const Message& message, Timestamp now) {
  return message.phase != Phase::visible && message.visible_at <= now ? Phase::visible
                                                                      : message.phase;
}

constexpr std::string_view kMessages = "messages are as they should be";

void history_is_exact(const queue::History& seen, const queue::History& expected, MessageKey key) {
  const auto id = number(key);
  require(seen.attempts_total == expected.attempts_total &&
              seen.entered_generation == expected.entered_generation &&
              seen.prior_receives == expected.prior_receives && seen.redrives == expected.redrives,
          kMessages,
          "message {}: counts of its history: {} attempts, not {}",
          id,
          seen.attempts_total,
          expected.attempts_total);
  require(seen.attempts == expected.attempts, kMessages, "message {}: its attempts", id);
  require(seen.received_at == expected.received_at &&
              seen.first_received_wall == expected.first_received_wall &&
              seen.sent_wall == expected.sent_wall,
          kMessages,
          "message {}: dates of its history",
          id);
  require(seen == expected, kMessages, "message {}: its history", id);
}

void message_is_exact(const View& view, Slot slot, const Message& seen,
                      const ModelMessage& expected) {
  const auto id = number(seen.key);
  const Phase phase = phase_at(seen, view.now);
  require(view.state.queue_of(slot) == expected.queue,
          kMessages,
          "message {} is in queue {}, not in {}",
          id,
          number(view.state.queue_of(slot)),
          number(expected.queue));
  require(phase == expected.phase,
          kMessages,
          "message {} is in phase {}, not {}",
          id,
          static_cast<int>(phase),
          static_cast<int>(expected.phase));
  require(phase == Phase::visible || seen.visible_at == expected.visible_at,
          kMessages,
          "message {} is hidden until {}, not {}",
          id,
          seen.visible_at.ms(),
          expected.visible_at.ms());
  require(seen.sent_at == expected.sent_at, kMessages, "message {}: when it was sent", id);
  require(seen.receive_count == expected.receive_count &&
              view.state.generation(slot) == expected.generation(),
          kMessages,
          "message {} was received {} times, not {}",
          id,
          seen.receive_count,
          expected.receive_count);
  require(phase != Phase::in_flight || seen.visibility_touched == expected.visibility_touched,
          kMessages,
          "message {}: whether its visibility was changed",
          id);
  require(view.state.group_of(slot) == expected.group, kMessages, "message {}: its group", id);
  const queue::History* history = view.state.messages().history_if(slot);
  history_is_exact(history == nullptr ? queue::History{} : *history, expected.history, seen.key);
}

}  // namespace

void no_message_is_lost(const View& view) {
  for (const auto& [key, message] : view.model.messages()) {
    const Slot slot = view.state.messages().find(key);
    require(slot != queue::kNoSlot && !view.state.is_buried(slot),
            "no message is lost",
            "message {} of queue {}",
            number(key),
            number(message.queue));
  }
}

void nothing_gone_is_reborn(const View& view) {
  for_each_live(view, [&](Slot, const Message& message, const queue::Queue& queue) {
    require(view.model.messages().contains(message.key),
            "nothing gone is reborn",
            "message {} in queue {}",
            number(message.key),
            number(queue.key));
  });
}

void messages_are_as_they_should_be(const View& view) {
  for_each_live(view, [&](Slot slot, const Message& message, const queue::Queue&) {
    message_is_exact(view, slot, message, view.model.messages().at(message.key));
  });
}

void queues_are_as_they_should_be(const View& view) {
  constexpr std::string_view kQueues = "queues are as they should be";
  require(view.state.queues().size() == view.model.queues().size(),
          kQueues,
          "{} queues, not {}",
          view.state.queues().size(),
          view.model.queues().size());
  for (const auto& [key, expected] : view.model.queues()) {
    const queue::Queue* seen = view.state.find(key);
    const std::string& name = expected.identity.name;
    require(seen != nullptr && view.state.find(expected.identity) == seen &&
                view.state.find_by_arn(expected.identity.arn()) == seen,
            kQueues,
            "{} is not found",
            name);
    require(seen->key == key && seen->arn == expected.arn, kQueues, "{}: its key", name);
    require(seen->settings == expected.settings, kQueues, "{}: its attributes", name);
    require(seen->tags == expected.tags, kQueues, "{}: its tags", name);
    require(seen->processed == expected.processed, kQueues, "{}: what it processed", name);
    codes_are_exact(view, seen->codes, expected.codes, name);
    require(seen->created_wall == expected.created_wall &&
                seen->modified_wall == expected.modified_wall &&
                seen->purged_at == expected.purged_at,
            kQueues,
            "{}: its dates",
            name);
  }
}

void deduplication_windows_are_exact(const View& view) {
  constexpr std::string_view kDedup = "deduplication windows are exact";
  for (const auto& [key, expected] : view.model.queues()) {
    const queue::DedupTable& seen = view.state.find(key)->dedup;
    for (const auto& [scope, entry] : expected.dedup) {
      const auto* found = seen.find(queue::dedup_id(scope.first, scope.second), view.now);
      require(found != nullptr && found->expires == entry.expires &&
                  found->message_id == entry.message_id && found->sequence == entry.sequence,
              kDedup,
              "{} of {} is {}",
              scope.second,
              expected.identity.name,
              found == nullptr ? "forgotten" : "another");
    }
    // Iterated like a checkpoint: an id that was accepted again has two entries and counts once.
    std::set<queue::DedupId> live;
    for (std::uint64_t at = seen.first(); at < seen.last(); ++at) {
      const auto& [id, entry] = seen.at(at);
      if (entry.expires > view.now) live.insert(id);
    }
    require(live.size() == expected.dedup.size(),
            kDedup,
            "{} knows {} ids, not {}",
            expected.identity.name,
            live.size(),
            expected.dedup.size());
  }
}

void receive_attempts_are_remembered(const View& view) {
  constexpr std::string_view kAttempts = "receive attempts are remembered";
  for (const auto& [key, expected] : view.model.queues()) {
    std::size_t live = 0;
    for (const auto& [id, attempt] : view.state.find(key)->receive_attempts) {
      if (attempt.expires <= view.now) continue;
      ++live;
      const auto found = expected.attempts.find(id);
      require(found != expected.attempts.end() && found->second.expires == attempt.expires &&
                  found->second.messages == attempt.messages,
              kAttempts,
              "{} of {}",
              id,
              expected.identity.name);
    }
    require(live == expected.attempts.size(),
            kAttempts,
            "{}: {}, not {}",
            expected.identity.name,
            live,
            expected.attempts.size());
  }
}

void names_and_numbers_are_kept(const View& view) {
  constexpr std::string_view kKept = "names and numbers are kept";
  require(view.state.names() == view.model.names(), kKept, "names");
  require(
      view.state.started() == view.model.started() && view.state.secret() == view.model.secret(),
      kKept,
      "the secret");
  require(number(view.state.last_key()) == view.model.last_key() &&
              number(view.state.last_queue()) == view.model.last_queue() &&
              number(view.state.last_task()) == view.model.last_task() &&
              number(view.state.last_group()) == view.model.last_group() &&
              number(view.state.errors().last()) == view.model.last_error() &&
              view.state.entries() == view.model.entries() &&
              view.state.deploys() == view.model.deploys(),
          kKept,
          "last key {}, not {}",
          number(view.state.last_key()),
          view.model.last_key());
  require(view.state.orphans() == 0, kKept, "{} facts about nothing", view.state.orphans());
  for (const auto& [key, queue] : view.model.queues()) {
    require(view.state.name(queue.arn) == queue.identity.arn(), kKept, "the name of a queue");
  }
}

void memory_equals_the_model(const View& view) {
  names_and_numbers_are_kept(view);
  queues_are_as_they_should_be(view);
  no_message_is_lost(view);
  nothing_gone_is_reborn(view);
  messages_are_as_they_should_be(view);
  deduplication_windows_are_exact(view);
  receive_attempts_are_remembered(view);
  move_tasks_are_exact(view);
  groups_are_exact(view);
  archived_are_exact(view);
  errors_are_exact(view);
}

void counters_equal_a_recount(const View& view) {
  for (const auto& [key, queue] : view.model.queues()) {
    const queue::Mailbox& box = view.state.mailbox(*view.state.find(key));
    const auto expected = [&](Phase phase) { return view.model.count(key, phase); };
    require(box.visible() == expected(Phase::visible) &&
                box.in_flight() == expected(Phase::in_flight) &&
                box.delayed() == expected(Phase::delayed),
            "counters equal a recount",
            "{}: {} visible, {} in flight, {} delayed; not {}, {}, {}",
            queue.identity.name,
            box.visible(),
            box.in_flight(),
            box.delayed(),
            expected(Phase::visible),
            expected(Phase::in_flight),
            expected(Phase::delayed));
  }
}

}  // namespace redrive::sim
