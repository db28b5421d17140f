#include "core/journal/posix_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/file_system.h"
#include "base/text.h"
#include "base/uninterrupted.h"
#include "core/journal/directory.h"
#include "core/journal/format.h"

namespace redrive::journal {
namespace {

std::string error_text(int number) {
  return std::generic_category().message(number);
}

std::unexpected<Error> io_error(const std::string& path, std::string_view doing, int number) {
  const bool full = number == ENOSPC || number == EDQUOT;
  return fail(full ? ErrorCode::storage_full : ErrorCode::storage_io,
              fmt::format("{}: {} failed: {}", path, doing, error_text(number)));
}

// EIO: the medium has lost the bytes. Unlike other errors, this one is permanent.
std::unexpected<Error> unreadable(const std::string& path) {
  return fail(ErrorCode::storage_damaged,
              fmt::format("{}: reading failed: {}", path, error_text(EIO)));
}

// Aligned for direct I/O.
alignas(4096) char g_zeros[64u << 10];

std::span<iovec> without_front(std::span<iovec> parts, std::size_t bytes) {
  while (!parts.empty() && bytes >= parts.front().iov_len) {
    bytes -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (bytes > 0) {
    parts.front().iov_base = static_cast<char*>(parts.front().iov_base) + bytes;
    parts.front().iov_len -= bytes;
  }
  return parts;
}

class PosixFile final : public File {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~PosixFile() override {
    ::close(fd_);
    if (direct_fd_ >= 0) ::close(direct_fd_);
  }
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  Result<std::size_t> read(std::uint64_t offset, char* out, std::size_t size) override {
    return read_by(fd_, offset, out, size);
  }

  Result<std::size_t> read_pages(std::uint64_t offset, char* out, std::size_t size) override {
    const int direct = direct_fd();
    if (direct < 0) return read(offset, out, size);
    return read_by(direct, offset, out, size);
  }

  using File::write;
  Result<void> write(std::uint64_t offset, std::span<const std::string_view> parts) override {
    std::vector<iovec> left;
    left.reserve(parts.size());
    for (const std::string_view part : parts) {
      left.push_back({const_cast<char*>(part.data()), part.size()});
    }
    if (const int error = write_all(fd_, offset, left)) return io_error(path_, "writing", error);
    return {};
  }

  Result<void> write_pages(std::uint64_t offset, std::string_view pages) override {
    return write_directly(offset, {{const_cast<char*>(pages.data()), pages.size()}});
  }

  Result<void> write_zeros(std::uint64_t offset, std::uint64_t size) override {
    std::vector<iovec> zeros;
    for (std::uint64_t left = size; left > 0; left -= zeros.back().iov_len) {
      zeros.push_back({g_zeros, std::min<std::uint64_t>(left, sizeof g_zeros)});
    }
    return write_directly(offset, zeros);
  }

  Result<void> sync() override {
    if (uninterrupted([&] { return ::fdatasync(fd_); }) < 0) {
      return io_error(path_, "syncing", errno);
    }
    return {};
  }

  Result<std::uint64_t> size() override {
    struct stat status;
    if (::fstat(fd_, &status) < 0) return io_error(path_, "examining the file", errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  Result<void> reserve(std::uint64_t bytes) override {
    int error = EINTR;
    while (error == EINTR) error = ::posix_fallocate(fd_, 0, static_cast<off_t>(bytes));
    if (error != 0) return io_error(path_, "reserving space", error);
    return {};
  }

 private:
  // The same file with O_DIRECT: a third of the CPU time, and the page cache is left to data that
  // will be read. Opened on first use, through its descriptor because its name may have changed;
  // negative if the file system does not support it.
  int direct_fd() {
    std::call_once(direct_once_, [this] {
      const std::string self = fmt::format("/proc/self/fd/{}", fd_);
      direct_fd_ =
          uninterrupted([&] { return ::open(self.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC); });
    });
    return direct_fd_;
  }

  // Some file systems accept O_DIRECT when opening and refuse it only when writing.
  Result<void> write_directly(std::uint64_t offset, const std::vector<iovec>& parts) {
    const int direct = direct_fd();
    int error = direct < 0 ? EINVAL : write_all(direct, offset, parts);
    if (error == EINVAL) error = write_all(fd_, offset, parts);
    if (error != 0) return io_error(path_, "writing", error);
    return {};
  }

  Result<std::size_t> read_by(int fd, std::uint64_t offset, char* out, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
      const auto got = uninterrupted(
          [&] { return ::pread(fd, out + done, size - done, static_cast<off_t>(offset + done)); });
      if (got < 0 && errno == EINVAL && fd != fd_) return read_by(fd_, offset, out, size);
      if (got < 0 && errno == EIO) return unreadable(path_);
      if (got < 0) return io_error(path_, "reading", errno);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  // Returns an errno, or 0.
  static int write_all(int fd, std::uint64_t offset, std::vector<iovec> all) {
    std::span<iovec> left(all);
    while (!left.empty()) {
      const auto count = static_cast<int>(std::min<std::size_t>(left.size(), IOV_MAX));
      const auto put = uninterrupted(
          [&] { return ::pwritev(fd, left.data(), count, static_cast<off_t>(offset)); });
      if (put < 0) return errno;
      offset += static_cast<std::uint64_t>(put);
      left = without_front(left, static_cast<std::size_t>(put));
    }
    return 0;
  }

  const int fd_;
  const std::string path_;
  std::once_flag direct_once_;
  int direct_fd_ = -1;
};

// The pid stored in the lock file, or 0.
pid_t holder_of(int lock_fd) {
  char text[32];
  const auto got = ::pread(lock_fd, text, sizeof text, 0);
  std::string_view pid(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  return parse_int<pid_t>(pid.substr(0, pid.find_first_not_of("0123456789"))).value_or(0);
}

std::string name_of(pid_t holder) {
  return holder == 0 ? "another process" : fmt::format("process {}", holder);
}

// Whether SIGKILL was sent to it and it has not noticed yet.
bool is_killed(std::string_view status) {
  constexpr std::uint64_t kKill = std::uint64_t{1} << (SIGKILL - 1);
  for (const std::string_view field : {"\nSigPnd:\t", "\nShdPnd:\t"}) {
    const auto at = status.find(field);
    if (at == status.npos) continue;
    const std::string digits(status.substr(at + field.size(), 16));
    if ((std::strtoull(digits.c_str(), nullptr, 16) & kKill) != 0) return true;
  }
  return false;
}

// Whether it is exiting, or has exited and its parent has not waited for it. See proc_pid_stat(5):
// after the name in parentheses come the state and, six fields later, the flags.
bool is_exiting(std::string_view stat) {
  constexpr unsigned kExiting = 0x4;  // PF_EXITING
  const auto name_end = stat.rfind(')');
  if (name_end == stat.npos || name_end + 2 >= stat.size()) return false;
  const auto fields = split(stat.substr(name_end + 2), ' ');
  if (fields.size() < 7) return false;
  const bool gone = fields[0] == "Z" || fields[0] == "X";
  return gone || (parse_int<unsigned>(fields[6]).value_or(0) & kExiting) != 0;
}

// A process that was killed exists for a moment longer, and as a zombie until its parent waits.
bool is_alive(pid_t process) {
  if (::kill(process, 0) != 0 && errno != EPERM) return false;
  const std::string directory = fmt::format("/proc/{}/", process);
  return !is_killed(read_file(directory + "status").value_or("")) &&
         !is_exiting(read_file(directory + "stat").value_or(""));
}

// How long a holder that was killed may take: the kernel frees its memory before its locks. If it
// was starting a child, the forked child holds the locks until it execs.
constexpr auto kDeadHolderPatience = std::chrono::seconds(10);
constexpr auto kBetweenTries = std::chrono::milliseconds(10);

// Network file systems may not support locking directories, or not those opened for reading.
bool cannot_be_locked(int error) {
  return error == EBADF || error == EINVAL || error == ENOTSUP || error == ENOLCK;
}

}  // namespace

Result<std::unique_ptr<PosixFiles>> PosixFiles::open(const std::string& path, OpenMode mode) {
  assert(!path.empty());
  if (mode == OpenMode::create && ::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) {
    return io_error(path, "creating the directory", errno);
  }
  const int fd =
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) return io_error(path, "opening the directory", errno);
  std::unique_ptr<PosixFiles> files(new PosixFiles(path, fd));
  // Leaves not even a lock file in a directory that is not ours.
  RETURN_IF_ERROR(check_not_foreign(*files, TRY(list_directory(*files))));
  RETURN_IF_ERROR(files->lock());
  return files;
}

PosixFiles::~PosixFiles() {
  if (lock_fd_ >= 0) ::close(lock_fd_);
  if (directory_fd_ >= 0) ::close(directory_fd_);
}

Result<void> PosixFiles::lock() {
  const std::string name(kLockName);
  lock_fd_ = uninterrupted(
      [&] { return ::openat(directory_fd_, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); });
  if (lock_fd_ < 0) return io_error(path(name), "opening", errno);
  RETURN_IF_ERROR(lock_for_good(directory_fd_, directory_));
  RETURN_IF_ERROR(lock_for_good(lock_fd_, path(name)));
  // The pid is informational, so failing to write it on a full disk is ignored.
  const std::string pid = fmt::format("{}\n", ::getpid());
  const bool noted = ::ftruncate(lock_fd_, 0) == 0 &&
                     ::pwrite(lock_fd_, pid.data(), pid.size(), 0) == std::ssize(pid);
  static_cast<void>(noted);
  return {};
}

// Waits only if the holder is dead or dying: the lock will be released shortly.
Result<void> PosixFiles::lock_for_good(int fd, const std::string& shown) const {
  const auto patience = std::chrono::steady_clock::now() + kDeadHolderPatience;
  while (uninterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) < 0) {
    if (fd == directory_fd_ && cannot_be_locked(errno)) return {};
    if (errno != EWOULDBLOCK) return io_error(shown, "locking", errno);
    const pid_t holder = holder_of(lock_fd_);
    const bool dead = holder != 0 && !is_alive(holder);
    if (!dead || std::chrono::steady_clock::now() > patience) {
      return fail(ErrorCode::storage_locked,
                  fmt::format("{} is in use: {} holds {}", directory_, name_of(holder), shown));
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
  return {};
}

Result<std::vector<std::string>> PosixFiles::list() {
  const int fd = ::openat(directory_fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return io_error(directory_, "opening the directory", errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), ::closedir);
  assert(stream);  // Cannot fail for a directory that was just opened.
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return io_error(directory_, "reading the directory", errno);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::unique_ptr<File>> PosixFiles::open_with(const std::string& name, int flags) {
  const int fd = uninterrupted(
      [&] { return ::openat(directory_fd_, name.c_str(), O_RDWR | O_CLOEXEC | flags, 0600); });
  if (fd < 0) return io_error(path(name), "opening", errno);
  return std::make_unique<PosixFile>(fd, path(name));
}

Result<std::unique_ptr<File>> PosixFiles::open(const std::string& name) {
  return open_with(name, 0);
}

Result<std::unique_ptr<File>> PosixFiles::create(const std::string& name) {
  return open_with(name, O_CREAT | O_TRUNC);
}

Result<void> PosixFiles::rename(const std::string& from, const std::string& to) {
  if (::renameat(directory_fd_, from.c_str(), directory_fd_, to.c_str()) < 0) {
    return io_error(path(from), fmt::format("renaming to {}", to), errno);
  }
  return {};
}

// Both files keep their blocks, so this works on a full disk.
Result<void> PosixFiles::exchange(const std::string& from, const std::string& to) {
  if (::renameat2(directory_fd_, from.c_str(), directory_fd_, to.c_str(), RENAME_EXCHANGE) == 0) {
    return {};
  }
  return rename(from, to);
}

Result<void> PosixFiles::remove(const std::string& name) {
  if (::unlinkat(directory_fd_, name.c_str(), 0) < 0)
    return io_error(path(name), "removing", errno);
  return {};
}

Result<void> PosixFiles::sync_directory() {
  if (uninterrupted([&] { return ::fsync(directory_fd_); }) < 0) {
    return io_error(directory_, "syncing the directory", errno);
  }
  return {};
}

std::string PosixFiles::path(const std::string& name) const {
  return name.empty() ? directory_ : fmt::format("{}/{}", directory_, name);
}

}  // namespace redrive::journal
