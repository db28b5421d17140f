#pragma once

#include <string>
#include <vector>

#include "dead_letter/json_fields.h"

namespace redrive::dead_letter {

// One key as the dead and as the processed have it; a side that never had it has counts of zero.
struct FieldPair {
  const JsonField* dead;
  const JsonField* processed;
  std::string path;                // order.items[].sku
  std::string filter;              // body.$.order.items[*].sku
  std::vector<std::string> place;  // {"body", "order", "items", "[]", "sku"}
};

// Keys of either side, parents before children, without those of which a side may have left some
// out. Valid as long as both sides are.
std::vector<FieldPair> pair_fields(const JsonFields& dead, const JsonFields& processed);

}  // namespace redrive::dead_letter
