#pragma once

#include <filesystem>
#include <memory>

#include "base/time.h"
#include "cli/failure.h"

namespace redrive::cli {

// Notices when something below a directory changes: files written, moved, removed, new directories.
class DirectoryWatch {
 public:
  static Answer<DirectoryWatch> open(const std::filesystem::path& directory);
  ~DirectoryWatch();
  DirectoryWatch(DirectoryWatch&& other) noexcept;
  DirectoryWatch& operator=(DirectoryWatch&&) = delete;

  // Whether something has changed within this time. After the first change it waits until none has
  // come for a moment: editors write in several steps.
  bool wait(Duration patience);

 private:
  DirectoryWatch(int descriptor, std::filesystem::path directory)
      : descriptor_(descriptor), directory_(std::move(directory)) {}
  void watch_all() const;
  bool ready(Duration patience) const;
  bool drain() const;

  int descriptor_;
  std::filesystem::path directory_;
};

}  // namespace redrive::cli
