#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace redrive::journal {

inline constexpr std::uint32_t kPageBytes = 4096;

// One open file. Offsets are in bytes from the start. Reads and writes of different ranges may run
// concurrently.
class File {
 public:
  virtual ~File() = default;
  virtual Result<std::size_t> read(std::uint64_t offset, char* out,
                                   std::size_t size) = 0;  // Short at the end of the file.
  // Writes the parts one after another: all of them, or an error.
  virtual Result<void> write(std::uint64_t offset, std::span<const std::string_view> parts) = 0;
  Result<void> write(std::uint64_t offset, std::string_view bytes) {
    return write(offset, std::span(&bytes, 1));
  }
  // Like read() and write(), but bypassing the page cache where possible: writes are cheaper, and
  // so are large reads. Offset, size and memory must be page-aligned.
  virtual Result<std::size_t> read_pages(std::uint64_t offset, char* out, std::size_t size) {
    return read(offset, out, size);
  }
  virtual Result<void> write_pages(std::uint64_t offset, std::string_view pages) {
    return write(offset, pages);
  }
  // Zeros that will not be read, so they need not stay in the page cache.
  virtual Result<void> write_zeros(std::uint64_t offset, std::uint64_t size) = 0;
  // Makes written bytes durable (fdatasync), but not the file's name.
  virtual Result<void> sync() = 0;
  virtual Result<std::uint64_t> size() = 0;
  // Extends the file to at least `bytes` and allocates the space, so that writes within it cannot
  // fail with ENOSPC. Unwritten parts read as zeros.
  virtual Result<void> reserve(std::uint64_t bytes) = 0;
};

// The port for all durable I/O: one directory of files. The simulator's implementation loses what
// was not synced, tears writes and fails calls.
class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::vector<std::string>> list() = 0;
  virtual Result<std::unique_ptr<File>> open(const std::string& name) = 0;    // Must exist.
  virtual Result<std::unique_ptr<File>> create(const std::string& name) = 0;  // Empty; replaces.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;  // Replaces.
  // Renames `from` to `to`. Where the file system supports it, the replaced file atomically gets
  // the name `from`; otherwise `from` no longer exists afterwards.
  virtual Result<void> exchange(const std::string& from, const std::string& to) {
    return rename(from, to);
  }
  virtual Result<void> remove(const std::string& name) = 0;
  // Makes creations, renames and removals durable.
  virtual Result<void> sync_directory() = 0;
  // The full path, for messages.
  virtual std::string path(const std::string& name) const = 0;
};

}  // namespace redrive::journal
