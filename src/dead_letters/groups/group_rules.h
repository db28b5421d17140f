#pragma once

#include <optional>

#include "core/queue/failure_group.h"
#include "dead_letters/triage/filter.h"
#include "dead_letters/view/stored_view.h"

namespace redrive::dead_letters {

// The filter of a rule, parsed once for many messages.
class RuleFilter {
 public:
  explicit RuleFilter(const queue::GroupRule& rule);
  // Whether the rule is for this message. Never, if it has no filter.
  bool chooses(const KnownMessage& known, const store::StoredMessage& stored) const;

 private:
  std::optional<triage::Filter> filter_;
};

}  // namespace redrive::dead_letters
