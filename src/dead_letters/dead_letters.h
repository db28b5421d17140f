#pragma once

#include <vector>

#include "core/engine/engine.h"
#include "dead_letters/bin/bin.h"
#include "dead_letters/damage/damage.h"
#include "dead_letters/groups/groups.h"
#include "dead_letters/jobs/jobs.h"
#include "dead_letters/jobs/moves.h"
#include "dead_letters/lineage/lineage.h"
#include "dead_letters/lineage/peek.h"
#include "dead_letters/policy/policies.h"
#include "dead_letters/policy/policy_book.h"
#include "dead_letters/processed/processed.h"
#include "dead_letters/processed/settled.h"

namespace redrive::dead_letters {

struct Options {
  // For dead-letter queues that have no policy of their own: the first that fits.
  std::vector<PolicyRule> policies = {};
  SettledLimits settled = {};
  JobOptions jobs = {};
  Archive archive = {};
};

// Everything that is done with dead letters, on the turns of one engine. To be created right after
// the engine, before the first tick, and destroyed before it.
class DeadLetters {
 public:
  explicit DeadLetters(engine::Engine& engine, Options options = {});
  ~DeadLetters();
  DeadLetters(const DeadLetters&) = delete;
  DeadLetters& operator=(const DeadLetters&) = delete;

  const PolicyBook policy_book;
  Peek peek;
  Lineages lineages;
  Bin bin;
  Moves moves;
  Damage damage;
  Jobs jobs;
  Settled settled;
  Processed processed;
  Groups groups;
  Policies policies;

 private:
  engine::Engine& engine_;
  std::vector<engine::Extension*> extensions_;  // In the order in which the engine calls them.
};

}  // namespace redrive::dead_letters
