#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "functions/definition.h"

// Functions, mappings and invoke configurations as the catalogue keeps them: JSON, in which a
// member that is absent has its default, so that older documents stay readable as members come.
//
// The entry of a function is named by its ARN without a qualifier, like that of its invoke
// configuration; the entry of a mapping by its id.

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
