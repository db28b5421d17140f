#pragma once

#include <map>
#include <string>
#include <string_view>

namespace redrive::auth {

using Section = std::map<std::string, std::string>;
using Sections = std::map<std::string, Section>;

// Parses AWS's credentials and config files: `[section]`, `name = value`, `#` and `;` comments. An
// indented line belongs to the name above it: `sqs =` followed by `  endpoint_url = x` gives
// `sqs.endpoint_url`. Like the AWS tools, ignores what it cannot parse.
Sections parse_profiles(std::string_view text);

}  // namespace redrive::auth
