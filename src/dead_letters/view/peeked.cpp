#include "dead_letters/view/peeked.h"

#include "dead_letters/triage/fingerprint.h"

namespace redrive::dead_letters {
namespace {

using queue::NameIndex;
using queue::Slot;

std::string name_of(const queue::State& state, NameIndex index) {
  return index == NameIndex::none ? std::string() : state.name(index);
}

}  // namespace

void tell_history(const queue::State& state, const queue::History& history, Peeked& peeked) {
  peeked.history = history;
  peeked.dead_letter_source = name_of(state, history.dead_letter_source);
  peeked.origin = name_of(state, history.origin);
  for (const queue::Attempt& attempt : history.attempts) {
    peeked.consumers.push_back(name_of(state, attempt.by));
    peeked.deployed.push_back(state.deployed_before(attempt.by, attempt.received_wall));
    const queue::ErrorText* error = state.errors().find(attempt.error);
    peeked.errors.push_back(error == nullptr ? queue::ErrorText{} : *error);
  }
  for (const queue::LineageEvent& event : history.events) {
    const queue::MoveTask* job = state.find_task(event.job);
    peeked.events.push_back({.from = name_of(state, event.from),
                             .actor = name_of(state, event.actor),
                             .reason = name_of(state, event.reason),
                             .job = job == nullptr ? std::string() : job->id.text()});
  }
  if (const queue::FailureGroup* group = state.find_group(history.group)) {
    peeked.failure_group = triage::GroupId{group->identity.id}.text();
    peeked.failed_again = history.redrives > 0 && history.former_group == history.group;
  }
}

Peeked look(const queue::State& state, const queue::Queue& queue, Slot slot,
            const queue::DeadLetterPolicy* policy, const queue::Stamp& stamp) {
  const queue::Message& message = state.messages()[slot];
  Peeked peeked{
      .mark = state.mailbox(queue).age_of(slot),
      .body = message.body,
      .phase = message.phase,
      .visible_in = message.visible_at - stamp.now,
      .expires_wall = stamp.wall + (message.sent_at + queue.settings.retention - stamp.now),
      .receive_count = message.receive_count,
      .group = std::string(state.group_of(slot))};
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr) return peeked;
  tell_history(state, *history, peeked);
  peeked.parked = policy != nullptr && policy->is_spent(history->redrives);
  return peeked;
}

}  // namespace redrive::dead_letters
