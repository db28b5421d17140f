#pragma once

#include "base/result.h"
#include "engine/engine.h"
#include "objects/store.h"

namespace redrive::server {

// Keeps a dead letter in the bucket that its queue's policy names, as `redrive worker` would; the
// bucket is made when there is none.
Result<std::string> archive_dead_letter(objects::Store& store, const engine::ArchiveItem& item);

}  // namespace redrive::server
