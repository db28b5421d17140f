#pragma once

#include <string_view>

namespace redrive::manage {

// docs/openapi.yaml, as it was when this program was built.
std::string_view openapi_yaml();

}  // namespace redrive::manage
