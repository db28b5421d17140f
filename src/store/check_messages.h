#pragma once

#include <cstdint>
#include <set>

#include "journal/journal.h"

namespace redrive::store {

// For `redrive journal check`: reads the stored bytes of every message that a start would find, and
// names those that are damaged. Changes nothing. An error when the journal cannot be replayed.
Result<journal::CheckReport> check_messages(journal::Files& files);

// For `redrive journal repair`: segments that messages lie in and that are not there, which keeps a
// server from starting.
Result<std::set<std::uint32_t>> missing_segments(journal::Files& files);

}  // namespace redrive::store
