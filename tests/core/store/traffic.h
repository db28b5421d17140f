#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/queue/handle_rules.h"
#include "core/queue/receive.h"
#include "core/queue/send.h"
#include "core/store/message_codec.h"
#include "core/store/store.h"

namespace redrive::store {

// Random operations of every kind on a store; equal seeds give equal traffic.
class Traffic {
 public:
  Traffic(Store& store, unsigned seed) : store_(store), chance_(seed), ids_(seed) {
    commit({queue::ServerStarted{ids_.secret()}});
    for (const bool fifo : {false, true}) {
      create(fifo ? "dead.fifo" : "dead", fifo, false);
      for (int i = 0; i < 3; ++i) create(fmt::format("q{}{}", i, fifo ? ".fifo" : ""), fifo, i > 0);
    }
    create("dead!bin", false, false);
    create("dead!damaged", false, false);
  }

  const queue::Stamp& stamp() const { return stamp_; }

  void pass(Duration time) {
    stamp_.now = stamp_.now + time;
    stamp_.wall = stamp_.wall + time;
  }

  void step() {
    queue::Queue& queue = any_queue();
    state().advance(queue, stamp_.now);
    switch (roll(52)) {
      case 0:
        return commit({queue::QueuePurged{queue.key}});
      case 1:
        return recreate(queue);
      case 2:
      case 3:
        return change_settings(queue);
      case 4:
        return commit(
            {queue::QueueTagsChanged{queue.key, {{"tag", fmt::format("{}", roll(100))}}}});
      case 5:
      case 6:
        return redrive();
      case 7:
      case 8:
      case 9:
      case 10:
      case 11:
        return pass(Duration(roll(4'000)));
      case 12:
      case 13:
      case 14:
        return group();
      case 15:
        return mark();
      case 16:
        return change_task();
      case 17:
      case 18:
        return put_aside();
      case 19:
        return edit();
      case 21:
        return archive();
      case 22:
        return take_back();
      case 23:
        return damage();
      case 20:
        commit({queue::EntryPut{queue::EntryKind::setting, queue.identity.name, "v"}});
        return commit({queue::ProcessedCounted{queue.key, fmt::format("{}", roll(100))}});
      default:
        return work(queue);
    }
  }

  queue::Queue& any_queue() {
    auto at = state().queues().begin();
    std::advance(at, roll(static_cast<unsigned>(state().queues().size())));
    return *at->second;
  }

 private:
  queue::State& state() { return store_.state(); }
  unsigned roll(unsigned sides) { return chance_() % sides; }

  void commit(std::vector<queue::Change> changes) { store_.commit(stamp_, changes); }

  queue::NameIndex name(std::string_view text, std::vector<queue::Change>& changes) {
    const queue::NameIndex known = state().find_name(text);
    if (known != queue::NameIndex::none) return known;
    const auto fresh = static_cast<queue::NameIndex>(state().names().size());
    changes.push_back(queue::NameLearned{fresh, text});
    return fresh;
  }

  void create(const std::string& text, bool fifo, bool redriving) {
    queue::QueueSettings settings;
    if (fifo) settings.fifo.emplace();
    const queue::QueueIdentity dead{"000000000000", "us-east-1", fifo ? "dead.fifo" : "dead"};
    if (redriving) settings.redrive = queue::RedrivePolicy{dead.arn(), 1 + roll(3)};
    const queue::QueueIdentity identity{"000000000000", "us-east-1", text};
    const std::string arn = identity.arn();
    std::vector<queue::Change> changes;
    const queue::NameIndex index = name(arn, changes);
    changes.push_back(queue::QueueCreated{
        next(state().last_queue()), index, identity, settings, {{"made", "now"}}});
    store_.commit(stamp_, changes);
  }

  void recreate(const queue::Queue& queue) {
    const std::string text = queue.identity.name;
    const bool fifo = queue.settings.is_fifo();
    commit({queue::QueueDeleted{queue.key}});
    create(text, fifo, !text.starts_with("dead"));
  }

  void change_settings(const queue::Queue& queue) {
    queue::QueueSettings settings = queue.settings;
    settings.delay = queue::seconds(roll(3) * 3);
    settings.retention = queue::seconds(60 + roll(2) * 600);
    settings.policy = roll(2) == 0 ? "" : R"({"Statement":[]})";
    commit({queue::QueueSettingsChanged{queue.key, settings}});
  }

  // Redrives dead letters, or moves another queue's messages.
  void redrive() {
    queue::Queue& from = any_queue();
    queue::Queue& to = any_queue();
    if (&from == &to || from.settings.is_fifo() != to.settings.is_fifo()) return;
    state().advance(from, stamp_.now);
    const queue::TaskKey task = next(state().last_task());
    const std::string from_arn = from.identity.arn();
    const std::string to_arn = to.identity.arn();
    commit({queue::MoveTaskStarted{task, ids_.uuid(), from.key, from_arn, to_arn, roll(5), 3}});
    queue::ReadyWalk walk(state().mailbox(from));
    if (const queue::Slot slot = walk.next(); slot != queue::kNoSlot) {
      commit({queue::MessageRedriven{.task = task,
                                     .key = state().messages()[slot].key,
                                     .from = from.key,
                                     .to = to.key,
                                     .message_id = ids_.uuid(),
                                     .sequence = number(state().last_key()) + 1}});
    }
    if (roll(3) > 0) commit({queue::MoveTaskEnded{task, queue::TaskStatus::failed, "because"}});
  }

  void work(queue::Queue& queue) {
    switch (roll(10)) {
      case 8:
      case 9:
        return report(queue);
      case 0:
      case 1:
      case 2:
        return send(queue);
      case 3:
      case 4:
      case 5:
        return receive(queue);
      case 6:
        return use_handle(queue, true);
      default:
        return use_handle(queue, false);
    }
  }

  void send(queue::Queue& queue) {
    const std::string group =
        queue.settings.is_fifo() || roll(2) == 0 ? fmt::format("g{}", roll(4)) : "";
    const std::string dedup = fmt::format("d{}", roll(300));
    const std::string body(1 + roll(200), 'b');
    std::string tail;
    encode_tail(tail, {.group = group, .dedup = dedup, .body = body});
    const queue::Draft draft{
        .group = group, .dedup = dedup, .tail = tail, .tail_crc = crc32c(tail)};
    std::vector<queue::Change> changes;
    queue::SendOutcome outcome;
    queue::decide_send(state(), queue, {&draft, 1}, stamp_, ids_, changes, {&outcome, 1});
    if (!changes.empty()) store_.commit(stamp_, changes);
  }

  void receive(queue::Queue& queue) {
    std::vector<queue::Change> changes;
    const std::string consumer = fmt::format("consumer {}", roll(5));
    const std::string attempt = roll(2) == 0 ? fmt::format("attempt {}", roll(3)) : "";
    const queue::NameIndex by = name(consumer, changes);
    const queue::ReceiveDecision decision =
        queue::decide_receive(state(),
                              queue,
                              {.max = 1 + roll(4),
                               .visibility = queue::seconds(roll(3) * 5),
                               .by = by,
                               .attempt_id = attempt,
                               .isolated = roll(2) == 0},
                              stamp_);
    for (const auto& dead : decision.dead_lettered) changes.push_back(dead);
    if (decision.received.count > 0) changes.push_back(decision.received);
    if (decision.repeated.count > 0) changes.push_back(decision.repeated);
    if (!changes.empty()) store_.commit(stamp_, changes);
  }

  queue::Slot any_message(const queue::Queue& queue) {
    std::vector<queue::Slot> all;
    state().mailbox(queue).for_each([&](queue::Slot slot) { all.push_back(slot); });
    return all.empty() ? queue::kNoSlot : all[roll(static_cast<unsigned>(all.size()))];
  }

  std::string handle_of(const queue::Queue& queue, queue::Slot slot) {
    return queue::ReceiptHandle{queue.key, state().messages()[slot].key, state().generation(slot)}
        .seal(state().secret());
  }

  // Reports a failure, sometimes with the same error as others.
  void report(queue::Queue& queue) {
    const queue::Slot slot = any_message(queue);
    if (slot == queue::kNoSlot) return;
    const std::string handle = handle_of(queue, slot);
    const auto decision = queue::decide_report_failure(state(),
                                                       queue,
                                                       handle,
                                                       static_cast<queue::Disposition>(roll(3)),
                                                       queue::seconds(roll(4)),
                                                       stamp_);
    if (!decision) return;
    const queue::ErrorText text{.type = fmt::format("type {}", roll(4)), .message = {}};
    std::vector<queue::Change> changes;
    queue::ErrorKey key = state().errors().find(text);
    if (key == queue::ErrorKey::none) {
      key = next(state().errors().last());
      changes.push_back(queue::ErrorLearned{key, text});
    }
    changes.push_back(queue::FailureReported{
        queue.key,
        decision->key,
        key,
        decision->visible_at,
        queue::RetryCounts{.scope = 1, .counts = {static_cast<std::uint32_t>(roll(5))}},
        static_cast<std::uint16_t>(roll(3))});
    if (decision->dead_lettered) changes.push_back(*decision->dead_lettered);
    store_.commit(stamp_, changes);
  }

  // Assigns ungrouped dead letters to one of a few groups.
  void group() {
    state().advance_all(stamp_.now);
    std::vector<queue::Change> changes;
    for (const queue::MessageKey key : state().take_ungrouped(3)) {
      const queue::Slot slot = state().messages().find(key);
      if (slot == queue::kNoSlot || state().is_buried(slot) || !state().wants_group(slot)) continue;
      const queue::QueueKey in = state().queue_of(slot);
      queue::GroupIdentity identity{.id = {}, .basis = 1, .title = "title", .reason = "reason"};
      identity.id[0] = static_cast<std::uint8_t>(roll(6));
      const queue::FailureGroup* known = state().find_group(in, identity.id);
      if (known == nullptr) {
        commit({queue::GroupLearned{next(state().last_group()), in, identity}});
        known = state().find_group(in, identity.id);
      }
      commit({queue::MessageGrouped{key, in, known->key}});
    }
  }

  void mark() {
    if (state().groups().empty()) return;
    auto at = state().groups().begin();
    std::advance(at, roll(static_cast<unsigned>(state().groups().size())));
    commit({queue::GroupMarked{
        at->first, static_cast<queue::GroupStatus>(roll(5)), "note", queue::NameIndex::none}});
  }

  void change_task() {
    for (const auto& [key, task] : state().tasks()) {
      if (is_over(task.status) || roll(2) == 0) continue;
      constexpr queue::TaskStatus kStatus[] = {
          queue::TaskStatus::running, queue::TaskStatus::paused, queue::TaskStatus::halted};
      return commit({queue::MoveTaskChanged{key, kStatus[roll(3)], roll(9), roll(3), "why"}});
    }
  }

  void put_aside() {
    queue::Queue& dead = *state().find_by_arn("arn:aws:sqs:us-east-1:000000000000:dead");
    queue::Queue& bin = *state().find_by_arn("arn:aws:sqs:us-east-1:000000000000:dead!bin");
    state().advance(dead, stamp_.now);
    state().advance(bin, stamp_.now);
    const bool back = roll(2) == 0;
    const queue::Queue& from = back ? bin : dead;
    const queue::Queue& to = back ? dead : bin;
    const queue::Slot slot = any_message(from);
    if (slot == queue::kNoSlot || state().messages()[slot].phase == queue::Phase::in_flight) return;
    const queue::MessageKey key = state().messages()[slot].key;
    const std::uint64_t sequence = number(state().last_key()) + 1;
    const auto who = static_cast<queue::NameIndex>(1);
    if (back) return commit({queue::MessageRestored{key, from.key, to.key, sequence, who}});
    commit({queue::MessageDiscarded{key, from.key, to.key, sequence, who, who}});
  }

  // In flight or not: a receive can detect damage, too.
  void damage() {
    queue::Queue& from = any_queue();
    queue::Queue& to = *state().find_by_arn("arn:aws:sqs:us-east-1:000000000000:dead!damaged");
    state().advance(from, stamp_.now);
    state().advance(to, stamp_.now);
    const queue::Slot slot = any_message(from);
    if (slot == queue::kNoSlot || from.key == to.key) return;
    commit({queue::MessageDamaged{state().messages()[slot].key,
                                  from.key,
                                  to.key,
                                  number(state().last_key()) + 1,
                                  static_cast<queue::NameIndex>(1)}});
  }

  void edit() {
    const queue::Queue& queue = any_queue();
    const queue::Slot slot = any_message(queue);
    if (slot == queue::kNoSlot) return;
    const std::string body(1 + roll(300), 'e');
    std::string tail;
    encode_tail(tail, {.body = body});
    std::string stored;
    const queue::MessageKey key = state().messages()[slot].key;
    encode_message_head(stored, {.key = key, .tail_crc = crc32c(tail), .tail = tail});
    stored += tail;
    const auto who = static_cast<queue::NameIndex>(1);
    commit({queue::MessageEdited{key, who, who, stored, {}}});
  }

  void archive() {
    queue::Queue& queue = any_queue();
    state().advance(queue, stamp_.now);
    const queue::Slot slot = any_message(queue);
    if (slot == queue::kNoSlot) return;
    const queue::Message& message = state().messages()[slot];
    const std::string place = fmt::format("s3://bucket/{}", number(message.key));
    commit({queue::MessageArchived{queue.key,
                                   message.key,
                                   number(state().last_key()) + 1,
                                   Uuid{{static_cast<std::uint8_t>(roll(256))}},
                                   Uuid{{static_cast<std::uint8_t>(number(message.key)),
                                         static_cast<std::uint8_t>(number(message.key) >> 8)}},
                                   static_cast<queue::NameIndex>(1),
                                   static_cast<queue::NameIndex>(1),
                                   place}});
  }

  // Restores from the archive, or as the original of an edit, with a history that refers to errors.
  void take_back() {
    const auto& archived = state().archived().entries();
    if (archived.empty()) return;
    auto at = archived.begin();
    std::advance(at, roll(static_cast<unsigned>(archived.size())));
    const queue::Queue& queue = any_queue();
    if (queue.settings.is_fifo()) return;
    auto history = std::make_shared<queue::History>(at->second.history);
    history->group = queue::FailureGroupKey::none;
    std::string tail;
    encode_tail(tail, {.body = "back"});
    const queue::MessageKey key = next(state().last_key());
    commit({queue::MessageSent{.queue = queue.key,
                               .key = key,
                               .message_id = at->second.lineage,
                               .visible_at = stamp_.now,
                               .group = {},
                               .dedup = {},
                               .tail = tail,
                               .tail_crc = crc32c(tail),
                               .body = {}},
            queue::LineageContinued{key, at->second.message_id, history}});
  }

  // Deletes a message or changes its visibility with its last handle, if it has one.
  void use_handle(queue::Queue& queue, bool removing) {
    const queue::Slot slot = any_message(queue);
    if (slot == queue::kNoSlot) return;
    const std::string handle = handle_of(queue, slot);
    if (removing) {
      const auto removed = queue::decide_delete(state(), queue, handle, stamp_);
      if (removed && *removed) commit({(*removed)->fact});
    } else {
      const auto held = queue::decide_change_visibility(
          state(), queue, handle, queue::seconds(roll(3) * 4), stamp_);
      if (held) commit({*held});
    }
  }

  Store& store_;
  std::mt19937 chance_;
  SeededIds ids_;
  queue::Stamp stamp_{.now = Timestamp(5'000'000), .wall = Timestamp(1'700'000'000'000)};
};

}  // namespace redrive::store
