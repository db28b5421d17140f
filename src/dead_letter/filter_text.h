#pragma once

#include <string>
#include <string_view>

// Parts of a filter expression, written so that Filter::parse reads them back.

namespace redrive::dead_letter {

// A text in quotes.
std::string filter_literal(std::string_view text);

// One step of a path into an object: .sku or ["order id"].
std::string filter_path_step(std::string_view key);

}  // namespace redrive::dead_letter
