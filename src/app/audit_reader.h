#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manage/audit.h"

namespace redrive::app {

// Reads the files of an AuditLog backwards, while they are written and rotated.
//
// A place is a file, by its inode, and an offset in it, so that it survives rotation. Reads a
// bounded number of bytes a page: a page can be empty and still have a next one.
class AuditReader {
 public:
  static constexpr std::uint64_t kPageBytesMax = 16u << 20;

  explicit AuditReader(std::string path) : path_(std::move(path)) {}

  // Lines that match, newest first.
  Result<manage::AuditLines> page(const manage::AuditQuery& query) const;

 private:
  const std::string path_;
};

}  // namespace redrive::app
