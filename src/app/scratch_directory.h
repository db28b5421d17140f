#pragma once

#include <filesystem>

#include "base/ids.h"
#include "net/http/poller.h"

namespace redrive::app {

// A private directory under the machine's temporary directory, outside the data directory, for
// files that processes of other users may read. Removed with the object.
//
// Locked while the server runs. So the next server can recognise and remove directories that a
// killed server left behind.
class ScratchDirectory {
 public:
  ScratchDirectory(const std::filesystem::path& parent, IdSource& ids);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
  http::Descriptor lock_;
};

}  // namespace redrive::app
