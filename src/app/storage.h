#pragma once

#include <memory>

#include "app/config.h"
#include "core/journal/journal.h"
#include "core/journal/posix_files.h"
#include "core/store/store.h"

namespace redrive::app {

// The queues as the journal has them. The journal is in the data directory, or in memory with
// --memory. Members are in construction order: the journal uses the files and refers to the store.
struct Storage {
  store::Store store;
  std::unique_ptr<journal::PosixFiles> files;  // None in memory.
  std::unique_ptr<journal::Journal> journal;
};

// Opens the journal, replays it into the store and logs what was found.
Result<std::unique_ptr<Storage>> open_storage(const Config& config);

}  // namespace redrive::app
