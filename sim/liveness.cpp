// Liveness: policies act, jobs halt, space is reclaimed.

#include <algorithm>
#include <ranges>

#include "sim/violation.h"
#include "sim/world.h"

namespace redrive::sim {
namespace {

using queue::MessageKey;
using std::chrono::minutes;
using std::chrono::seconds;

// The engine checks a message again that a consumer held, or that the archive did not accept.
constexpr Duration kLooksAgain = seconds(30);
constexpr Duration kSlack = kLooksAgain + seconds(5);
constexpr Duration kBeforeExpiry = minutes(10);
constexpr Duration kHaltsWithin{1500};
constexpr int kSlicesMax = 2'000;

const queue::DeadLetterPolicy* policy_of(const Model& model, const ModelMessage& message) {
  const ModelQueue& queue = model.queues().at(message.queue);
  const bool dead = message.history.dead_letter_source != queue::NameIndex::none;
  return dead && queue.settings.dead_letters ? &*queue.settings.dead_letters : nullptr;
}

bool can_be_redriven(const Model& model, const ModelMessage& message) {
  const auto source = model.find_by_arn(model.names()[number(message.history.dead_letter_source)]);
  return source && model.queues().at(*source).settings.is_fifo() ==
                       model.queues().at(message.queue).settings.is_fifo();
}

// Whether the policy has something to do with this message regardless of its age.
bool is_to_go(const Model& model, const ModelMessage& message,
              const queue::DeadLetterPolicy& policy) {
  if (policy.is_spent(message.history.redrives)) {
    return policy.then != queue::DeadLetterPolicy::Then::park;
  }
  return policy.redrive_after > seconds(0) && can_be_redriven(model, message);
}

// How long it has been a dead letter, according to the clock used by policies.
Duration dead_for(const ModelMessage& message, Timestamp wall) {
  using Kind = queue::LineageEvent::Kind;
  for (const auto& event : std::views::reverse(message.history.events)) {
    if (event.kind == Kind::dead_lettered || event.kind == Kind::restored) return wall - event.wall;
  }
  return Duration::zero();
}

}  // namespace

void World::let_pass(Duration time) {
  const Timestamp end = now() + time;
  while (now() < end) {
    const Timestamp next = std::min({end, now() + seconds(10), engine().armed()});
    clock_.advance(std::max(Duration(1), next - now()));
    tick();
    for (int i = 0; i < 3; ++i) maintain();
    jobs_have_halted();
  }
}

Duration World::time_for_policies() {
  Duration longest = Duration::zero();
  for (const auto& [key, message] : model().messages()) {
    const auto* policy = policy_of(now_model_, message);
    if (policy == nullptr || !is_to_go(now_model_, message, *policy)) continue;
    longest = std::max(longest, Duration(policy->delay_after(message.history.redrives)));
  }
  return longest + 2 * kSlack;
}

void World::policies_have_acted(const std::set<std::string>& but_of) {
  for (const auto& [key, message] : model().messages()) {
    const auto* policy = policy_of(now_model_, message);
    // Messages held until recently will be checked again.
    const bool held = message.phase == queue::Phase::in_flight ||
                      (message.receive_count > 0 && message.visible_at > now() - kSlack);
    if (policy == nullptr || held) continue;
    const Duration dead = dead_for(message, clock_.wall());
    if (dead < kSlack) continue;
    const ModelQueue& queue = now_model_.queues().at(message.queue);
    if (queue.identity.is_hidden()) continue;
    const Timestamp expiring = message.sent_at + queue.settings.retention - kBeforeExpiry;
    require(!policy->archive_expiring || now() < expiring + kSlack,
            "what is about to expire is archived",
            "message {}",
            number(key));
    const auto& source = now_model_.names()[number(message.history.dead_letter_source)];
    const Duration delay = policy->is_spent(message.history.redrives)
                               ? Duration::zero()
                               : Duration(policy->delay_after(message.history.redrives));
    const bool excused = but_of.contains(source) || dead < delay + kSlack;
    require(excused || !is_to_go(now_model_, message, *policy),
            "policies act when they are due",
            "message {} in queue {}",
            number(key),
            number(message.queue));
  }
}

// A job is checked again within a second, whatever its rate.
void World::jobs_have_halted() {
  for (const auto& [key, task] : model().tasks()) {
    if (!now_model_.must_halt(task)) {
      halts_due_.erase(key);
      continue;
    }
    const Timestamp since = halts_due_.try_emplace(key, now()).first->second;
    require(now() - since < kHaltsWithin || task.since > since,
            "a job halts when too much of what it moved has failed",
            "job {}",
            number(key));
  }
}

void World::space_has_come_back() {
  for (int i = 0; i < 5; ++i) {
    clock_.advance(seconds(1));
    maintain();
    for (int slices = 0; store().checkpointing() && slices < kSlicesMax; ++slices) {
      maintain();
      sync();
    }
    sync();
    for (int chores = 0; chores < 20; ++chores) housekeep();
  }
  for (const auto& use : journal().usage()) {
    require(!use.before_checkpoint || use.active || use.held_bytes > 0,
            "unused segments are reclaimed",
            "segment {}",
            use.segment);
  }
}

}  // namespace redrive::sim
