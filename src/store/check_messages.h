#pragma once

#include "journal/journal.h"

namespace redrive::store {

// For `redrive journal check`: reads the stored bytes of every message that a start would find, and
// names those that are damaged. Changes nothing. An error when the journal cannot be replayed.
Result<journal::CheckReport> check_messages(journal::Files& files);

}  // namespace redrive::store
