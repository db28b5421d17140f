#pragma once

#include <cstdint>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace redrive::app {

// The audit log: one JSON line for each change and refused request, in a separate file. Lines are
// written at once and never changed. A file that has reached its size becomes FILE.1, the one
// before FILE.2, and so on; the oldest is removed. Moving the file away and calling reopen()
// (SIGHUP) rotates it, too. From any thread.
class AuditLog {
 public:
  struct Options {
    std::string path;  // Empty: nothing is written.
    std::uint64_t file_bytes_max = std::uint64_t{64} << 20;
    std::uint32_t files_max = 8;  // Including the current one.
  };
  static Result<AuditLog> open(Options options);
  AuditLog(AuditLog&& other) noexcept;
  AuditLog& operator=(AuditLog&&) = delete;
  ~AuditLog();

  void write(std::string line);
  const std::string& path() const { return options_.path; }  // Empty: there is no file.
  Result<void> reopen();

 private:
  struct File {
    int descriptor = -1;
    std::uint64_t bytes = 0;
  };
  static Result<File> open_file(const std::string& path);
  AuditLog(Options options, File file) : options_(std::move(options)), file_(file) {}

  // Starts writing to a file, closing the previous one.
  void use(File file) REQUIRES(mutex_);
  void rotate() REQUIRES(mutex_);

  const Options options_;
  Mutex mutex_;
  File file_ GUARDED_BY(mutex_);
};

}  // namespace redrive::app
