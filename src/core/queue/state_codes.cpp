// Applies facts about the consumers' code.

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/queue/consumer_name.h"
#include "core/queue/state.h"

namespace redrive::queue {
namespace {

constexpr std::size_t kDeployedFunctionsMax = 4096;

}  // namespace

void State::count_processed(Queue& queue, Slot slot, const Stamp& stamp) {
  const History* history = messages_.history_if(slot);
  if (history == nullptr || history->attempts.empty() || queue.identity.is_hidden()) return;
  const Attempt& last = history->attempts.back();
  if (last.by == NameIndex::none) return;
  queue.codes.note_processed({codes_.of(last.by, name(last.by)), last.received_wall}, stamp.wall);
}

void State::count_failed(CodeUses& uses, const History& history, const Stamp& stamp) {
  std::vector<CodeIndex> counted;  // A message counts once for each version, however often it ran.
  for (const Attempt& attempt : failed_attempts(history)) {
    if (attempt.by == NameIndex::none) continue;
    const CodeIndex code = codes_.of(attempt.by, name(attempt.by));
    if (std::ranges::find(counted, code) != counted.end()) continue;
    counted.push_back(code);
    uses.note_failed({code, attempt.received_wall}, stamp.wall);
  }
}

void State::on(const MessageTried& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance(*queue, stamp.now);
  const Slot slot = expect_message(*queue, fact.key);
  if (slot == kNoSlot) return;
  messages_.history(slot).add({.wall = stamp.wall,
                               .from = queue->arn,
                               .actor = fact.actor,
                               .reason = fact.reason,
                               .kind = LineageEvent::Kind::tried});
}

// A checkpoint contains older deploys after newer ones that were recorded while it was written.
void State::on(const CodeDeployed& fact, const Stamp&) {
  const auto found = deploys_.find(fact.function);
  if (found == deploys_.end() && deploys_.size() == kDeployedFunctionsMax) {
    deploys_.erase(std::ranges::min_element(
        deploys_, {}, [](const auto& entry) { return entry.second.back().wall; }));
  }
  auto& known = found != deploys_.end() ? found->second : deploys_[std::string(fact.function)];
  for (const Deploy& deploy : fact.deploys) {
    if (std::ranges::find(known, deploy) == known.end()) known.push_back(deploy);
  }
  // In a fixed order, whatever the order of arrival: several may have been deployed at the same
  // time.
  std::ranges::sort(known, {}, [](const Deploy& deploy) {
    return std::pair(deploy.wall, std::string_view(deploy.code));
  });
  if (known.size() > kDeploysKept) known.erase(known.begin(), known.end() - kDeploysKept);
  if (known.empty()) deploys_.erase(std::string(fact.function));
}

CodeUseSnapshot State::snapshot(const CodeUses& uses, QueueKey queue, FailureGroupKey group) const {
  CodeUseSnapshot out{.queue = queue, .group = group, .forgot = uses.forgot(), .uses = {}};
  for (const CodeUse& use : uses.all()) {
    out.uses.push_back(
        {codes_[use.code], use.processed, use.failed, use.first_wall, use.last_wall});
  }
  return out;
}

void State::on(const CodeUseSnapshot& fact, const Stamp&) {
  const bool of_group = fact.group != FailureGroupKey::none;
  if (!loading_ && !(of_group && awaits_counts(fact.queue))) return;
  CodeUses* into = nullptr;
  if (!of_group) {
    if (Queue* queue = find(fact.queue)) into = &queue->codes;
  } else if (const auto group = groups_.find(fact.group); group != groups_.end()) {
    into = &group->second.codes;
  }
  if (into == nullptr) return;
  std::vector<CodeUse> uses;
  for (const CodeUseSnapshot::Use& use : fact.uses) {
    uses.push_back({codes_.of(use.code), use.processed, use.failed, use.first_wall, use.last_wall});
  }
  into->restore(std::move(uses), fact.forgot);
}

Timestamp State::deployed_before(NameIndex by, Timestamp wall) const {
  if (by == NameIndex::none || deploys_.empty()) return {};
  const ConsumerName who = parse_consumer_name(name(by));
  const auto found = deploys_.find(who.role());
  Timestamp last;
  if (found == deploys_.end() || who.code.empty()) return last;
  for (const Deploy& deploy : found->second) {
    if (deploy.code == who.code && deploy.wall <= wall) last = deploy.wall;
  }
  return last;
}

}  // namespace redrive::queue
