#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/queue/handle_rules.h"
#include "core/queue/receive.h"
#include "core/queue/send.h"
#include "core/queue/state.h"

// What the tests of this room share.
namespace redrive::queue {

using Keys = std::vector<std::uint64_t>;  // Of messages: 1, 2, 3, … in the order of sending.

// Counts, for every place in the journal, how often it is held.
class CountingLedger final : public BodyLedger {
 public:
  void hold(const BodyRef& body) override {
    ++holds_[body.offset];
    bytes_ += body.size;
  }
  void let_go(const BodyRef& body) override {
    EXPECT_GT(holds_[body.offset], 0) << "let go of what nobody held: " << body.offset;
    --holds_[body.offset];
    bytes_ -= body.size;
  }
  int holds(std::uint32_t offset) const {
    const auto found = holds_.find(offset);
    return found == holds_.end() ? 0 : found->second;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::map<std::uint32_t, int> holds_;
  std::int64_t bytes_ = 0;
};

inline QueueSettings fifo_settings(DedupScope scope = DedupScope::queue) {
  QueueSettings settings;
  settings.fifo = FifoSettings{.dedup_scope = scope, .dedup_scope_at_birth = scope};
  return settings;
}

inline QueueIdentity identity_of(std::string name) {
  return {"000000000000", "us-east-1", std::move(name)};
}

struct Outgoing {
  std::string_view group;
  std::string_view dedup;
  std::optional<seconds> delay;
};

struct Asked {
  std::size_t max = 1;
  Duration visibility = seconds(30);
  std::string_view attempt_id;
};

// A server without a journal: decides, applies, and lets the test move the time.
class World {
 public:
  static constexpr std::uint32_t kBodyBytes = 100;

  World() { apply(ServerStarted{{1, 2, 3}}); }

  CountingLedger ledger;
  State state{ledger};
  SeededIds ids{1};
  Stamp stamp{.now = Timestamp(1'000'000), .wall = Timestamp(1'700'000'000'000)};

  void pass(Duration time) {
    stamp.now = stamp.now + time;
    stamp.wall = stamp.wall + time;
  }
  void apply(const Change& change) { state.apply(change, stamp); }

  NameIndex name(std::string_view text) {
    if (const NameIndex known = state.find_name(text); known != NameIndex::none) return known;
    apply(NameLearned{static_cast<NameIndex>(state.names().size()), text});
    return state.find_name(text);
  }
  Queue& create(const std::string& text, QueueSettings settings = {}) {
    const QueueIdentity identity = identity_of(text);
    apply(QueueCreated{
        next(state.last_queue()), name(identity.arn()), identity, std::move(settings), {}});
    return *state.find(identity);
  }
  void change(Queue& queue, QueueSettings settings) {
    apply(QueueSettingsChanged{queue.key, std::move(settings)});
  }

  // Sends as one batch; a FIFO message without a deduplication id gets one of its own.
  std::vector<SendOutcome> send_batch(Queue& queue, const std::vector<Outgoing>& messages) {
    state.advance(queue, stamp.now);
    std::vector<std::string> made;
    made.reserve(messages.size());
    std::vector<Draft> drafts;
    for (const Outgoing& message : messages) {
      made.push_back(message.dedup.empty() ? "own " + std::to_string(++sent_)
                                           : std::string(message.dedup));
      drafts.push_back({.group = message.group, .dedup = made.back(), .delay = message.delay});
    }
    std::vector<SendOutcome> outcomes(messages.size());
    std::vector<Change> changes;
    decide_send(state, queue, drafts, stamp, ids, changes, outcomes);
    for (Change& change : changes) {
      auto& sent = *change.as<MessageSent>();
      sent.body = {1, static_cast<std::uint32_t>(number(sent.key)), kBodyBytes};
      apply(change);
    }
    return outcomes;
  }
  SendOutcome send(Queue& queue, const Outgoing& message = {}) {
    return send_batch(queue, {message})[0];
  }

  ReceiveDecision decide(Queue& queue, const Asked& asked) {
    state.advance(queue, stamp.now);
    return decide_receive(state,
                          queue,
                          {.max = asked.max,
                           .visibility = asked.visibility,
                           .by = NameIndex::none,
                           .attempt_id = asked.attempt_id},
                          stamp);
  }
  Keys receive(Queue& queue, const Asked& asked = {}) {
    const ReceiveDecision decision = decide(queue, asked);
    Keys keys;
    for (const auto& dead : decision.dead_lettered) apply(dead);
    if (decision.received.count > 0) apply(decision.received);
    for (std::size_t i = 0; i < decision.received.count; ++i) {
      keys.push_back(number(decision.received.keys[i]));
    }
    if (decision.repeated.count > 0) apply(decision.repeated);
    for (std::size_t i = 0; i < decision.repeated.count; ++i) {
      keys.push_back(number(decision.repeated.keys[i]));
    }
    return keys;
  }
  Keys receive_all(Queue& queue) { return receive(queue, {.max = 10}); }

  // What a receive of everything would give, without taking it.
  Keys walk(Queue& queue) {
    state.advance(queue, stamp.now);
    Keys keys;
    ReadyWalk ready(state.mailbox(queue));
    for (Slot slot = ready.next(); slot != kNoSlot; slot = ready.next()) {
      keys.push_back(number(state.messages()[slot].key));
    }
    return keys;
  }

  // The handle that the last receive of this message gave.
  std::string handle(const Queue& queue, std::uint64_t key) const {
    const Slot slot = state.messages().find(static_cast<MessageKey>(key));
    const std::uint32_t generation = slot == kNoSlot ? 1 : state.generation(slot);
    return ReceiptHandle{queue.key, static_cast<MessageKey>(key), generation}.seal(state.secret());
  }
  Result<std::optional<Deletion>> remove(Queue& queue, std::string_view with) {
    state.advance(queue, stamp.now);
    auto decision = decide_delete(state, queue, with, stamp);
    if (decision && *decision) apply((*decision)->fact);
    return decision;
  }
  Result<VisibilityChanged> change_visibility(Queue& queue, std::string_view with, seconds to) {
    state.advance(queue, stamp.now);
    auto decision = decide_change_visibility(state, queue, with, to, stamp);
    if (decision) apply(*decision);
    return decision;
  }
  void forget(Queue& queue, std::uint64_t key) {
    apply(MessageDeleted{queue.key, static_cast<MessageKey>(key)});
  }
  void hold(Queue& queue, std::uint64_t key, seconds visible_in) {
    apply(VisibilityChanged{queue.key, static_cast<MessageKey>(key), stamp.now + visible_in});
  }

  struct Counts {
    std::size_t visible, in_flight, delayed;
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  Counts counts(Queue& queue) {
    state.advance(queue, stamp.now);
    const Mailbox& box = state.mailbox(queue);
    EXPECT_EQ(box.size(), box.visible() + box.in_flight() + box.delayed());
    return {box.visible(), box.in_flight(), box.delayed()};
  }
  const Message& message(std::uint64_t key) const {
    return state.messages()[state.messages().find(static_cast<MessageKey>(key))];
  }
  const History& history(std::uint64_t key) const {
    return *state.messages().history_if(state.messages().find(static_cast<MessageKey>(key)));
  }
  bool exists(std::uint64_t key) const {
    return state.messages().find(static_cast<MessageKey>(key)) != kNoSlot;
  }

 private:
  int sent_ = 0;
};

inline void PrintTo(const World::Counts& counts, std::ostream* out) {
  *out << counts.visible << " visible, " << counts.in_flight << " in flight, " << counts.delayed
       << " delayed";
}

}  // namespace redrive::queue
