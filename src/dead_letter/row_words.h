#pragma once

#include "dead_letter/finding.h"
#include "dead_letter/row_features.h"

namespace redrive::dead_letter {

// What a feature says, in words and as a filter.
Finding finding_of(const RowFeature& feature, const RowNames& names);

}  // namespace redrive::dead_letter
