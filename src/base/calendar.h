#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace redrive {

// The last moment with a four-digit year.
inline constexpr Timestamp kCalendarEnd{253'402'300'799'999};

// 2026-01-31T23:59:59.000Z, for times from 1970 to kCalendarEnd.
std::string format_utc(Timestamp time);
// The inverse; the fraction may have one to three digits or be omitted. nullopt if the text or the
// date is invalid.
std::optional<Timestamp> parse_utc(std::string_view text);

}  // namespace redrive
