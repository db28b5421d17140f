#pragma once

#include <functional>

#include "dead_letters/triage/features.h"
#include "dead_letters/triage/finding.h"

namespace redrive::triage {

// Compares the samples of two sets of messages and adds findings: ranges of numbers, lengths,
// patterns of texts, high-cardinality values, and properties of the delivery; finally pairs of
// features, if no single one explains the failures.
//
// `names` has the paths of both sides and the values of the dead. `is_exact` tells for which paths
// values were compared by exact counts.
void compare_rows(const RowSample& dead, const RowSample& processed, const RowNames& names,
                  const std::function<bool(PathHash)>& is_exact, Findings& findings);

}  // namespace redrive::triage
