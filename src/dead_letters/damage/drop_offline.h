#pragma once

#include <optional>
#include <set>

#include "core/journal/journal.h"
#include "core/queue/ids.h"

namespace redrive::dead_letters {

// For `redrive journal repair --drop`: deletes damaged messages for good, those with these keys or,
// without any, all of them. What is known of them is recorded as a server would record it, at the
// time of the last record: no message expires because of it. Says in the report which were dropped.
//
// An error, and nothing has changed, when a key is not that of a damaged message or when a start
// would fail. No server may be running on these files.
Result<journal::CheckReport> drop_offline(journal::Files& files,
                                          const std::optional<std::set<queue::MessageKey>>& keys);

}  // namespace redrive::dead_letters
