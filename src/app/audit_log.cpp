#include "app/audit_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace redrive::app {
namespace {

std::string rotated_name(const std::string& path, std::uint32_t age) {
  return age == 0 ? path : fmt::format("{}.{}", path, age);
}

}  // namespace

Result<AuditLog::File> AuditLog::open_file(const std::string& path) {
  if (path.empty()) return File();
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return fail(ErrorCode::storage_io,
                fmt::format("cannot open the audit log {}: {}", path, std::strerror(errno)));
  }
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  return File{.descriptor = descriptor,
              .bytes = known ? static_cast<std::uint64_t>(status.st_size) : 0};
}

Result<AuditLog> AuditLog::open(Options options) {
  const File file = TRY(open_file(options.path));
  return AuditLog(std::move(options), file);
}

AuditLog::AuditLog(AuditLog&& other) noexcept
    : options_(other.options_), file_(std::exchange(other.file_, File())) {}

AuditLog::~AuditLog() {
  if (file_.descriptor >= 0) ::close(file_.descriptor);
}

void AuditLog::use(File file) {
  if (file_.descriptor >= 0) ::close(file_.descriptor);
  file_ = file;
}

void AuditLog::write(std::string line) {
  line += '\n';
  MutexLock lock(mutex_);
  if (file_.descriptor < 0) return;
  if (file_.bytes > 0 && file_.bytes + line.size() > options_.file_bytes_max) rotate();
  // One call, so that lines of two processes on one file would not mix.
  const ssize_t written = ::write(file_.descriptor, line.data(), line.size());
  if (written > 0) file_.bytes += static_cast<std::uint64_t>(written);
  if (written == static_cast<ssize_t>(line.size())) return;
  spdlog::error("cannot write to the audit log {} ({}): {}",
                options_.path,
                written < 0 ? std::strerror(errno) : "the disk is full",
                line.substr(0, line.size() - 1));
}

// The oldest is removed first, so that there are never too many. If a file cannot be renamed or
// opened, the current one keeps growing.
void AuditLog::rotate() {
  const std::string& path = options_.path;
  ::unlink(rotated_name(path, options_.files_max - 1).c_str());
  for (std::uint32_t age = options_.files_max - 1; age > 0; --age) {
    std::rename(rotated_name(path, age - 1).c_str(), rotated_name(path, age).c_str());
  }
  const auto fresh = open_file(path);
  if (!fresh) {
    file_.bytes = 0;  // Do not retry with every line.
    return spdlog::error("cannot reopen the audit log, keeping the current file: {}",
                         fresh.error().message);
  }
  use(*fresh);
}

Result<void> AuditLog::reopen() {
  const File file = TRY(open_file(options_.path));
  MutexLock lock(mutex_);
  use(file);
  return {};
}

}  // namespace redrive::app
