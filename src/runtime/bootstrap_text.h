#pragma once

#include <string_view>

namespace redrive::runtime {

// The programs that carry events to handlers: src/runtime/bootstrap, held by the binary.
std::string_view python_bootstrap();
std::string_view node_bootstrap();

}  // namespace redrive::runtime
