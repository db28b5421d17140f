#pragma once

#include "base/result.h"
#include "dead_letters/policy/policies.h"
#include "manage/call.h"
#include "objects/store.h"

namespace redrive::app {

// Archives a dead letter in the bucket that its queue's policy names, as `redrive worker` would;
// creates the bucket if it is missing.
Result<std::string> archive_dead_letter(objects::Store& store,
                                        const dead_letters::ArchiveItem& item);

// The contents of an archived dead letter in a bucket of this server, for searches. An error if the
// place is elsewhere, or the bucket belongs to another account.
Result<manage::ArchivedContents> read_archived_letter(const objects::Store& store,
                                                      std::string_view place,
                                                      std::string_view account);

}  // namespace redrive::app
