#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/queue/settings.h"
#include "core/queue/state.h"

namespace redrive::dead_letters {

// A policy of the configuration, for queues by the patterns of their names.
struct PolicyRule {
  std::vector<std::string> queues;
  queue::DeadLetterPolicy policy;
};

// Which policy is in force for which dead-letter queue. Immutable.
class PolicyBook {
 public:
  explicit PolicyBook(std::vector<PolicyRule> rules) : rules_(std::move(rules)) {}
  // The queue's own policy, or else the first of the configuration that fits; null: none.
  const queue::DeadLetterPolicy* of(const queue::Queue& queue) const;

 private:
  std::vector<PolicyRule> rules_;
};

}  // namespace redrive::dead_letters
