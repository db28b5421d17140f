#pragma once

#include <filesystem>
#include <memory>

#include "base/time.h"
#include "cli/client/failure.h"

namespace redrive::cli {

// Detects changes below a directory: files written, moved or removed, and new directories.
class DirectoryWatch {
 public:
  static Answer<DirectoryWatch> open(const std::filesystem::path& directory);
  ~DirectoryWatch();
  DirectoryWatch(DirectoryWatch&& other) noexcept;
  DirectoryWatch& operator=(DirectoryWatch&&) = delete;

  // Whether something changed within `patience`. After the first change it waits until there are no
  // more for a moment, because editors write in several steps.
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
