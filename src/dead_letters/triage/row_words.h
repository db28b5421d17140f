#pragma once

#include "dead_letters/triage/finding.h"
#include "dead_letters/triage/row_features.h"

namespace redrive::triage {

// Describes a feature in words and as a filter.
Finding finding_of(const RowFeature& feature, const RowNames& names);

}  // namespace redrive::triage
