#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

// Messages, jobs and groups may be called by the beginning of their ids, if that is unique.
namespace redrive::manage {

inline constexpr std::size_t kIdPrefixBytesMin = 4;

// Whether a text may be the beginning of an id: at least four hexadecimal digits and hyphens.
bool is_id_prefix(std::string_view text);
// The lowest UUID that begins so; none when no UUID can.
std::optional<Uuid> first_with_prefix(std::string_view prefix);
// Whether an id in small letters begins with that, in small or capital ones.
bool has_id_prefix(std::string_view id, std::string_view prefix);
// The error for a beginning that several ids have.
std::unexpected<Error> ambiguous(std::string_view of_what, std::string_view prefix,
                                 std::span<const std::string> candidates);

}  // namespace redrive::manage
