#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "functions/definitions/definition.h"

// Catalogue documents of functions, mappings and invoke configurations: JSON in which an absent
// member has its default, so that older documents stay readable when members are added.
//
// The entries of a function and of its invoke configuration are named by the function's unqualified
// ARN, the entry of a mapping by its id.

namespace redrive::functions {

std::string encode(const Function& function);
std::string encode(const Mapping& mapping);
std::string encode(const InvokeConfig& config);
std::string encode(const Alias& alias);

Result<Function> decode_function(std::string_view document);
Result<Mapping> decode_mapping(std::string_view document);
Result<InvokeConfig> decode_invoke_config(std::string_view document);
Result<Alias> decode_alias(std::string_view document);

}  // namespace redrive::functions
