#pragma once

#include <string_view>

namespace redrive::runtime {

// Source of the bootstraps that pass events to handlers: src/functions/runtime/bootstrap, embedded
// in the binary.
std::string_view python_bootstrap();
std::string_view node_bootstrap();

}  // namespace redrive::runtime
