#pragma once

#include <string_view>

namespace redrive {

// The receipt handle of a copy that somebody tries a handler on (redrive dlq try): of a receive
// that never was. In every queue a delete with it succeeds and deletes nothing, as with the handle
// of a message that has long left, so that handlers that delete what they have done can be tried,
// too.
inline constexpr std::string_view kTriedCopyHandle = "redrive-tried-copy";

}  // namespace redrive
