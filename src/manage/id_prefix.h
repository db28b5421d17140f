#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

// Messages, jobs and groups can be named by a unique prefix of their ids.
namespace redrive::manage {

inline constexpr std::size_t kIdPrefixBytesMin = 4;

// Whether a text may be the beginning of an id: at least four hexadecimal digits and hyphens.
bool is_id_prefix(std::string_view text);
// The lowest UUID with this prefix; none if there cannot be one.
std::optional<Uuid> first_with_prefix(std::string_view prefix);
// Whether an id in lower case has this prefix, in either case.
bool has_id_prefix(std::string_view id, std::string_view prefix);
// The error for a prefix that several ids have.
std::unexpected<Error> ambiguous(std::string_view of_what, std::string_view prefix,
                                 std::span<const std::string> candidates);

}  // namespace redrive::manage
