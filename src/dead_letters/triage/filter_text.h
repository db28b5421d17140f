#pragma once

#include <string>
#include <string_view>

// Builds parts of filter expressions that Filter::parse can read.

namespace redrive::triage {

// A quoted text.
std::string filter_literal(std::string_view text);

// One step of a path into an object: .sku or ["order id"].
std::string filter_path_step(std::string_view key);

}  // namespace redrive::triage
