#include <set>

#include "dead_letters/groups/groups.h"
#include "dead_letters/view/stored_view.h"

namespace redrive::dead_letters {
namespace {

using engine::BodyPins;
using engine::Turn;

// A dead letter to be read outside the turn.
struct DeadSample {
  queue::MessageKey key;
  queue::BodyRef body;
  std::string consumer;
  Timestamp first_attempt;
};

DeadSample dead_sample_at(const queue::State& state, queue::Slot slot) {
  DeadSample sample{.key = state.messages()[slot].key, .body = state.messages()[slot].body};
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr || history->attempts.empty()) return sample;
  const queue::Attempt& last = history->attempts.back();
  if (last.by != queue::NameIndex::none) sample.consumer = state.name(last.by);
  sample.first_attempt = history->attempts.front().received_wall;
  return sample;
}

// Up to kGroupSamples messages of a queue: all, or some from each eighth of the time since the
// oldest was sent, filled up with the oldest.
std::vector<queue::Slot> spread_over_time(const queue::Mailbox& mailbox, Timestamp now) {
  std::vector<queue::Slot> oldest = mailbox.page({}, queue::kGroupSamples);
  if (oldest.size() < queue::kGroupSamples) return oldest;
  constexpr int kParts = 8;
  const Timestamp begin = mailbox.age_of(oldest.front()).sent_at;
  const Duration part = (now - begin) / kParts;
  std::vector<queue::Slot> slots;
  std::set<queue::Slot> taken;
  const auto take = [&](const std::vector<queue::Slot>& some) {
    for (const queue::Slot slot : some) {
      if (slots.size() < queue::kGroupSamples && taken.insert(slot).second) slots.push_back(slot);
    }
  };
  for (int i = 0; i < kParts; ++i) {
    take(mailbox.page({.sent_at = begin + part * i}, queue::kGroupSamples / kParts));
  }
  take(oldest);
  return slots;
}

}  // namespace

Result<triage::FeatureCounts> Groups::features(const queue::QueueIdentity& identity,
                                               queue::FailureGroupKey group) {
  std::vector<DeadSample> samples;
  BodyPins pins(engine_.store());
  RETURN_IF_ERROR(engine_.turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::State& state = turn.state();
    std::vector<queue::Slot> slots;
    if (group == queue::FailureGroupKey::none) {
      slots = spread_over_time(state.mailbox(queue), turn.stamp().now);
    } else if (const queue::FailureGroup* known = state.find_group(group)) {
      for (const queue::MessageKey key : known->samples) {
        const queue::Slot slot = state.find_message(queue, key);
        const queue::History* history =
            slot == queue::kNoSlot ? nullptr : state.messages().history_if(slot);
        if (history != nullptr && history->group == group) slots.push_back(slot);
      }
    }
    prefer_judged_alone(state, slots);
    for (const queue::Slot slot : slots) {
      samples.push_back(dead_sample_at(state, slot));
      pins.add(samples.back().body);
    }
    return {};
  }));
  auto counts = triage::FeatureCounts::with_names();
  std::string bytes;
  for (const DeadSample& sample : samples) {
    if (const auto stored = engine_.read_message(sample.key, sample.body, bytes)) {
      counts.add(StoredView(*stored).features(
          {.consumer = sample.consumer, .first_attempt = sample.first_attempt}));
    }
  }
  return counts;
}

}  // namespace redrive::dead_letters
