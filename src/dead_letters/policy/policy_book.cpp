#include "dead_letters/policy/policy_book.h"

#include <algorithm>

#include "base/pattern.h"

namespace redrive::dead_letters {

const queue::DeadLetterPolicy* PolicyBook::of(const queue::Queue& queue) const {
  if (queue.settings.dead_letters) return &*queue.settings.dead_letters;
  if (queue.identity.is_hidden()) return nullptr;
  for (const PolicyRule& rule : rules_) {
    const bool fits = std::ranges::any_of(rule.queues, [&](const std::string& pattern) {
      return wildcard_match(pattern, queue.identity.name);
    });
    if (fits) return &rule.policy;
  }
  return nullptr;
}

}  // namespace redrive::dead_letters
