#pragma once

#include <filesystem>

#include "base/ids.h"
#include "net/http/poller.h"

namespace redrive::app {

// A directory of this server's own below the machine's temporary one, outside of its data, where
// processes of another user can be shown what is for them. Gone with the object.
//
// It is locked for as long as the server lives. So whoever starts next knows which ones a server
// left behind that was killed, and removes them.
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
