#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "core/engine/engine.h"
#include "dead_letters/triage/features.h"

namespace redrive::dead_letters {

struct Ungrouped;

// Puts dead letters that failed for the same reason into groups, and applies the rules about groups
// that operators made by hand.
class Groups final : public engine::Extension {
 public:
  using GroupId = queue::State::GroupId;

  explicit Groups(engine::Engine& engine) : engine_(engine) {}

  bool maintain() override;

  // Puts at most so many dead letters into groups; returns how many are left.
  std::size_t group_some(std::size_t max);

  // Rules about groups. Dead letters that are in a group now follow a new rule in slices
  // (apply_rules); later ones follow it when they are grouped.
  //
  // All of one group belongs to another from now on. Returns the number of the rule.
  Result<std::uint32_t> merge(const queue::QueueIdentity& queue, const GroupId& from,
                              const GroupId& into, const engine::Actor& by);
  // What a filter selects from a group is a group of its own from now on.
  struct SplitRule {
    std::uint32_t number = 0;
    GroupId group{};
  };
  Result<SplitRule> split(const queue::QueueIdentity& queue, const GroupId& from,
                          std::string_view filter, std::string_view title, const engine::Actor& by);
  // Later dead letters do not follow the rule any more; what it has moved stays where it is.
  Result<void> remove_rule(const queue::QueueIdentity& queue, std::uint32_t number);
  // Applies new rules to some of the messages that were there before; true while there is more.
  bool apply_rules();

  // Counts features of some of a queue's dead letters: of one group, or of all.
  Result<triage::FeatureCounts> features(const queue::QueueIdentity& queue,
                                         queue::FailureGroupKey group);

 private:
  struct Regrouping;
  // How far the first rule that is not applied yet has come.
  struct RegroupPlace {
    queue::QueueKey queue{};
    std::uint32_t rule = 0;
    queue::Mailbox::AgeMark after{};
  };

  void group_some(engine::Turn& turn, std::span<const Ungrouped> messages,
                  std::span<queue::GroupIdentity> identities, std::size_t& at,
                  std::uint64_t rules_version);
  bool choose_regrouping(engine::Turn& turn, Regrouping& work);
  void finish_regrouping(engine::Turn& turn, const Regrouping& work);

  engine::Engine& engine_;
  Mutex regroup_mutex_;         // Taken before the turn, never within it.
  RegroupPlace regroup_place_;  // In turn.
};

}  // namespace redrive::dead_letters
