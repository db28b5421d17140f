#pragma once

#include <string>
#include <vector>

#include "dead_letters/triage/json_fields.h"

namespace redrive::triage {

// One key in the dead and in the processed; zero counts on a side that never had it.
struct FieldPair {
  const JsonField* dead;
  const JsonField* processed;
  std::string path;                // order.items[].sku
  std::string filter;              // body.$.order.items[*].sku
  std::vector<std::string> place;  // {"body", "order", "items", "[]", "sku"}
};

// The keys of both sides, parents before children, without those that a side may have left out.
// Valid as long as both sides are.
std::vector<FieldPair> pair_fields(const JsonFields& dead, const JsonFields& processed);

}  // namespace redrive::triage
