#include "objects/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/result.h"

namespace redrive::objects {
namespace {

constexpr std::string_view kTemporaryEnd = ".part";

class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::filesystem::path temporary_path(const std::filesystem::path& directory) {
  static std::atomic<std::uint64_t> counter = 0;
  return directory / fmt::format("{}-{}{}", getpid(), ++counter, kTemporaryEnd);
}

}  // namespace

std::unexpected<Failure> system_failure(std::string_view doing, const std::filesystem::path& path,
                                        int error_number) {
  const Fault fault = error_number == ENOSPC || error_number == EDQUOT ? Fault::full : Fault::io;
  return failure(fault,
                 fmt::format("cannot {} {}: {}", doing, path.string(), strerror(error_number)));
}

Outcome<std::filesystem::path> write_temporary(const std::filesystem::path& directory,
                                               std::span<const std::string_view> parts, Sync sync) {
  std::filesystem::path path = temporary_path(directory);
  const OpenFile file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return system_failure("create", path, errno);
  bool written = true;
  for (const std::string_view part : parts) written = written && write_all(file.get(), part);
  if (written && (sync == Sync::no || fsync(file.get()) == 0)) return path;
  const int error_number = errno;
  unlink(path.c_str());
  return system_failure("write", path, error_number);
}

Outcome<void> sync_file(const std::filesystem::path& path) {
  const OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() >= 0 && fsync(file.get()) == 0) return {};
  return system_failure("sync", path, errno);
}

Outcome<void> move_into_place(const std::filesystem::path& temporary,
                              const std::filesystem::path& path) {
  if (rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int error_number = errno;
  unlink(temporary.c_str());
  return system_failure("rename to", path, error_number);
}

Outcome<void> sync_directory(const std::filesystem::path& directory, Sync sync) {
  if (sync == Sync::no) return {};
  const OpenFile file(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() >= 0 && fsync(file.get()) == 0) return {};
  return system_failure("sync", directory, errno);
}

Outcome<void> write_durably(const std::filesystem::path& path,
                            std::span<const std::string_view> parts, Sync sync) {
  const auto directory = path.parent_path();
  const auto temporary = TRY(write_temporary(directory, parts, sync));
  RETURN_IF_ERROR(move_into_place(temporary, path));
  return sync_directory(directory, sync);
}

bool is_temporary(std::string_view file_name) {
  return file_name.ends_with(kTemporaryEnd);
}

void remove_leftovers(const std::filesystem::path& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    std::error_code ignored;
    if (is_temporary(entry.path().filename().string())) remove(entry.path(), ignored);
  }
}

}  // namespace redrive::objects
