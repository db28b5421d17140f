#pragma once

#include "manage/call.h"
#include "manage/change_feed.h"

// GET changes?after=…&topics=…&wait=…: what its answers hold.
namespace redrive::manage {

Result<ChangeFeed::Question> changes_question(const Call& call);
// All rows that the caller may see. Takes many short turns.
Result<ChangeRows> change_rows(Call& call);
// The answer with the members that the feed gives.
std::string changes_document(Timestamp now, std::string_view members);

}  // namespace redrive::manage
