#pragma once

#include <functional>

#include "dead_letter/features.h"
#include "dead_letter/finding.h"

namespace redrive::dead_letter {

// Compares the samples of two sets of messages, and adds what it finds: ranges of numbers, lengths,
// patterns of texts, values where there are too many to count each, and how messages were
// delivered. Finally pairs of two features, when no single one explains the failures.
//
// `names` names the paths of both sides and the values of the dead. `is_exact` says of which paths
// the values were compared by exact counts.
void compare_rows(const RowSample& dead, const RowSample& processed, const RowNames& names,
                  const std::function<bool(PathHash)>& is_exact, Findings& findings);

}  // namespace redrive::dead_letter
