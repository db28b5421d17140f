#pragma once

#include <mutex>
#include <string>

#include "base/result.h"

namespace redrive::server {

// The audit log: one JSON line for each act that operators answer for, in a file of its own. Lines
// are written at once and never changed. Moving the file away and calling reopen() (SIGHUP) rotates
// it. From any thread.
class AuditLog {
 public:
  // An empty path: nothing is written.
  static Result<AuditLog> open(std::string path);
  AuditLog(AuditLog&& other) noexcept;
  AuditLog& operator=(AuditLog&&) = delete;
  ~AuditLog();

  void write(std::string line);
  Result<void> reopen();

 private:
  AuditLog(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  const std::string path_;
  std::mutex mutex_;
  int descriptor_;  // Guarded by mutex_. -1: none.
};

}  // namespace redrive::server
