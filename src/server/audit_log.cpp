#include "server/audit_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace redrive::server {
namespace {

Result<int> open_file(const std::string& path) {
  if (path.empty()) return -1;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  return fail(ErrorCode::storage_io,
              fmt::format("cannot open the audit log {}: {}", path, std::strerror(errno)));
}

}  // namespace

Result<AuditLog> AuditLog::open(std::string path) {
  const int descriptor = TRY(open_file(path));
  return AuditLog(std::move(path), descriptor);
}

AuditLog::AuditLog(AuditLog&& other) noexcept
    : path_(other.path_), descriptor_(std::exchange(other.descriptor_, -1)) {}

AuditLog::~AuditLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AuditLog::write(std::string line) {
  line += '\n';
  std::lock_guard lock(mutex_);
  if (descriptor_ < 0) return;
  // One call, so that lines of two processes on one file would not mix.
  const ssize_t written = ::write(descriptor_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return;
  spdlog::error("a line for the audit log {} was not written ({}): {}",
                path_,
                written < 0 ? std::strerror(errno) : "the disk is full",
                line.substr(0, line.size() - 1));
}

Result<void> AuditLog::reopen() {
  const int descriptor = TRY(open_file(path_));
  std::lock_guard lock(mutex_);
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
  return {};
}

}  // namespace redrive::server
