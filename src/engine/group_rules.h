#pragma once

#include "engine/stored_view.h"
#include "queue/failure_group.h"

namespace redrive::engine {

// Whether a rule with a filter is for this message.
bool rule_chooses(const queue::GroupRule& rule, const KnownMessage& known,
                  const store::StoredMessage& stored);

}  // namespace redrive::engine
