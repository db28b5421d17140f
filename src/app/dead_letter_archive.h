#pragma once

#include "base/result.h"
#include "dead_letters/policy/policies.h"
#include "manage/call.h"
#include "objects/store.h"

namespace redrive::app {

// Keeps a dead letter in the bucket that its queue's policy names, as `redrive worker` would; the
// bucket is made when there is none.
Result<std::string> archive_dead_letter(objects::Store& store,
                                        const dead_letters::ArchiveItem& item);

// What a document in a bucket of this server says of its dead letter, for searches. An error when
// the place is another one, or the bucket belongs to another account.
Result<manage::ArchivedContents> read_archived_letter(const objects::Store& store,
                                                      std::string_view place,
                                                      std::string_view account);

}  // namespace redrive::app
