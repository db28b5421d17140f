#include "front/dead_letter_sources.h"

#include <algorithm>

#include "core/engine/in_turns.h"
#include "front/authorize.h"

namespace redrive::front {
namespace {

using queue::QueueIdentity;

constexpr std::size_t kGroupsPerTurn = 64;
constexpr std::size_t kSourcesPerTurn = 256;

}  // namespace

std::vector<QueueIdentity> redrive_sources(engine::Engine& engine, std::string_view arn) {
  std::vector<QueueIdentity> sources;
  const auto copy_some = [&](engine::Turn& turn) {
    const auto& all = turn.state().sources_of(arn);
    auto at = sources.empty() ? all.begin() : all.upper_bound(sources.back());
    for (std::size_t i = 0; i < kSourcesPerTurn && at != all.end(); ++i, ++at) {
      sources.push_back(*at);
      turn.state().count_work(1);
    }
    return at != all.end();
  };
  while (engine.turn(copy_some)) engine.give_way();
  return sources;
}

std::vector<QueueIdentity> dead_letter_sources(engine::Engine& engine, std::string_view arn) {
  std::vector<QueueIdentity> sources = redrive_sources(engine, arn);
  engine::visit_in_turns(
      engine,
      &queue::State::groups,
      kGroupsPerTurn,
      [&](engine::Turn& turn, queue::FailureGroupKey, const queue::FailureGroup& group) {
        const queue::Queue* const queue = turn.state().find(group.queue);
        if (queue == nullptr || queue->identity.arn() != arn) return;
        for (const queue::NameIndex name : group.arrivals.sources) {
          auto source = identity_from_arn(turn.state().name(name));
          if (source) sources.push_back(*std::move(source));
        }
      });
  std::ranges::sort(sources);
  sources.erase(std::ranges::unique(sources).begin(), sources.end());
  return sources;
}

Result<void> authorize_sources(engine::Engine& engine, const Caller& caller, std::string_view arn) {
  if (caller.key == nullptr) return {};
  for (const QueueIdentity& source : dead_letter_sources(engine, arn)) {
    RETURN_IF_ERROR(authorize(engine, caller, kSendToQueue, resource_of(source)));
  }
  return {};
}

}  // namespace redrive::front
