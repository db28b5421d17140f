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

// One open file. Offsets are bytes from its beginning. Reads and writes of different ranges may run
// in different threads at the same time.
class File {
 public:
  virtual ~File() = default;
  virtual Result<std::size_t> read(std::uint64_t offset, char* out,
                                   std::size_t size) = 0;  // Short at the end of the file.
  // The parts one after another: all of them, or an error.
  virtual Result<void> write(std::uint64_t offset, std::span<const std::string_view> parts) = 0;
  Result<void> write(std::uint64_t offset, std::string_view bytes) {
    return write(offset, std::span(&bytes, 1));
  }
  // The same past the cache that the system keeps of files, where it can: to write costs less, and
  // so does to read much at once. Offsets, sizes and the memory are whole pages.
  virtual Result<std::size_t> read_pages(std::uint64_t offset, char* out, std::size_t size) {
    return read(offset, out, size);
  }
  virtual Result<void> write_pages(std::uint64_t offset, std::string_view pages) {
    return write(offset, pages);
  }
  // Zeros that nobody will read, so they need not take up memory.
  virtual Result<void> write_zeros(std::uint64_t offset, std::uint64_t size) = 0;
  // Makes written bytes (not names) durable: fdatasync.
  virtual Result<void> sync() = 0;
  virtual Result<std::uint64_t> size() = 0;
  // Makes the file at least this long and its space its own: writes inside it no longer fail for
  // lack of space. What was never written reads as zeros.
  virtual Result<void> reserve(std::uint64_t bytes) = 0;
};

// The port through which everything durable passes: one directory of files. The simulator's
// implementation forgets what was not synced, tears writes and fails calls.
class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::vector<std::string>> list() = 0;
  virtual Result<std::unique_ptr<File>> open(const std::string& name) = 0;    // Must exist.
  virtual Result<std::unique_ptr<File>> create(const std::string& name) = 0;  // Empty; replaces.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;  // Replaces.
  // Renames, and where the file system can do so in the same step gives the replaced file the name
  // `from`. Otherwise `from` is gone afterwards.
  virtual Result<void> exchange(const std::string& from, const std::string& to) {
    return rename(from, to);
  }
  virtual Result<void> remove(const std::string& name) = 0;
  // Makes creations, renames and removals durable.
  virtual Result<void> sync_directory() = 0;
  // For messages: the path a person would look for.
  virtual std::string path(const std::string& name) const = 0;
};

}  // namespace redrive::journal
