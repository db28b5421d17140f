#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/journal/files.h"

namespace redrive::journal {

enum class OpenMode {
  create,  // Creates the directory if it does not exist.
  must_exist,
};

// A directory of the local file system, exclusively for this process: the directory and the file
// `lock` in it are locked (flock) while this object lives, and the kernel releases both locks when
// the process ends, for whatever reason. The directory's lock cannot be deleted; the lock file
// names the process that holds it, and excludes older versions that lock only the file.
class PosixFiles final : public Files {
 public:
  static Result<std::unique_ptr<PosixFiles>> open(const std::string& path, OpenMode mode);
  ~PosixFiles() override;
  PosixFiles(const PosixFiles&) = delete;
  PosixFiles& operator=(const PosixFiles&) = delete;

  Result<std::vector<std::string>> list() override;
  Result<std::unique_ptr<File>> open(const std::string& name) override;
  Result<std::unique_ptr<File>> create(const std::string& name) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> exchange(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& name) override;
  Result<void> sync_directory() override;
  std::string path(const std::string& name) const override;

 private:
  PosixFiles(std::string directory, int directory_fd)
      : directory_(std::move(directory)), directory_fd_(directory_fd) {}

  Result<void> lock();
  Result<void> lock_for_good(int fd, const std::string& shown) const;
  Result<std::unique_ptr<File>> open_with(const std::string& name, int flags);

  const std::string directory_;
  int directory_fd_ = -1;
  int lock_fd_ = -1;
};

}  // namespace redrive::journal
