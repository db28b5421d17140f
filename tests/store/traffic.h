#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "queue/handle_rules.h"
#include "queue/receive.h"
#include "queue/send.h"
#include "store/message_codec.h"
#include "store/store.h"

namespace redrive::store {

// Random operations on a store, of every kind there is; equal seeds give equal traffic.
class Traffic {
 public:
  Traffic(Store& store, unsigned seed) : store_(store), chance_(seed), ids_(seed) {
    commit({queue::ServerStarted{ids_.secret()}});
    for (const bool fifo : {false, true}) {
      create(fifo ? "dead.fifo" : "dead", fifo, false);
      for (int i = 0; i < 3; ++i) create(fmt::format("q{}{}", i, fifo ? ".fifo" : ""), fifo, i > 0);
    }
  }

  const queue::Stamp& stamp() const { return stamp_; }

  void pass(Duration time) {
    stamp_.now = stamp_.now + time;
    stamp_.wall = stamp_.wall + time;
  }

  void step() {
    queue::Queue& queue = any_queue();
    state().advance(queue, stamp_.now);
    switch (roll(40)) {
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

  // Dead letters go back, or another queue's messages go astray.
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
    switch (roll(8)) {
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
                               .attempt_id = attempt},
                              stamp_);
    for (const auto& dead : decision.dead_lettered) changes.push_back(dead);
    if (decision.received.count > 0) changes.push_back(decision.received);
    if (decision.repeated.count > 0) changes.push_back(decision.repeated);
    if (!changes.empty()) store_.commit(stamp_, changes);
  }

  // Deletes or holds a message with its last handle, if it has one.
  void use_handle(queue::Queue& queue, bool removing) {
    std::vector<queue::Slot> all;
    state().mailbox(queue).for_each([&](queue::Slot slot) { all.push_back(slot); });
    if (all.empty()) return;
    const queue::Slot slot = all[roll(static_cast<unsigned>(all.size()))];
    const std::string handle =
        queue::ReceiptHandle{queue.key, state().messages()[slot].key, state().generation(slot)}
            .seal(state().secret());
    if (removing) {
      const auto removed = queue::decide_delete(state(), queue, handle, stamp_);
      if (removed && *removed) commit({**removed});
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
