#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/text.h"
#include "functions/packages/package.h"

namespace redrive::packages {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPathBytesMax = 1024;

std::unexpected<Error> bad_zip(std::string message) {
  return fail(ErrorCode::invalid_parameter_value, std::move(message));
}

std::unexpected<Error> cannot_write(const fs::path& path) {
  const ErrorCode code = errno == ENOSPC ? ErrorCode::storage_full : ErrorCode::storage_io;
  return fail(code, fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

// The normalised name of an entry; nullopt if it leads out of the directory.
std::optional<fs::path> harmless_path(std::string_view name) {
  if (name.empty() || name.size() > kPathBytesMax || name.front() == '/') return std::nullopt;
  if (name.find('\0') != name.npos) return std::nullopt;
  fs::path path;
  for (const std::string_view part : split(name, '/')) {
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") path /= part;
  }
  return path;
}

// Whether a link at `link` to `target` stays within the directory.
bool stays_within(const fs::path& link, std::string_view target) {
  if (target.empty() || target.front() == '/') return false;
  int depth = static_cast<int>(std::distance(link.begin(), link.end())) - 1;
  for (const std::string_view part : split(target, '/')) {
    if (part == "..") --depth;
    if (part != ".." && part != "." && !part.empty()) ++depth;
    if (depth < 0) return false;
  }
  return true;
}

class Unpacker {
 public:
  Unpacker(std::string_view zip, const fs::path& directory)
      : zip_(zip), directory_(directory), archive_(nullptr, &archive_read_free) {}

  Result<void> run() {
    RETURN_IF_ERROR(for_each_entry([](archive_entry*) -> Result<void> { return {}; }));
    if (entries_ == 0) return bad_zip("Uploaded file must be a non-empty zip");
    RETURN_IF_ERROR(for_each_entry([this](archive_entry* entry) { return take(entry); }));
    return make_links();
  }

 private:
  static std::unexpected<Error> not_a_zip() {
    return bad_zip(
        "Could not unzip uploaded file. Please check your file, then try to upload again.");
  }

  // Reads the headers of all entries, and refuses a zip with too many. The first pass writes
  // nothing, so refusing is cheap.
  template <class Visit>
  Result<void> for_each_entry(Visit visit) {
    archive_.reset(archive_read_new());
    entries_ = 0;
    archive_read_support_format_zip(archive_.get());
    if (archive_read_open_memory(archive_.get(), zip_.data(), zip_.size()) != ARCHIVE_OK) {
      return not_a_zip();
    }
    while (true) {
      archive_entry* entry = nullptr;
      const int got = archive_read_next_header(archive_.get(), &entry);
      if (got == ARCHIVE_EOF) return {};
      if (got < ARCHIVE_WARN || entry == nullptr) return not_a_zip();
      if (++entries_ > kFilesMax) {
        return bad_zip(fmt::format("The zip has more than {} files.", kFilesMax));
      }
      RETURN_IF_ERROR(visit(entry));
    }
  }

  Result<void> take(archive_entry* entry) {
    const char* const name = archive_entry_pathname(entry);
    const auto path = harmless_path(name == nullptr ? "" : name);
    if (!path) return bad_zip("The zip contains a file name that leads out of it.");
    if (path->empty()) return {};
    switch (archive_entry_filetype(entry)) {
      case AE_IFDIR:
        return make_directories(directory_ / *path);
      case AE_IFREG:
        RETURN_IF_ERROR(make_directories((directory_ / *path).parent_path()));
        return write_file(directory_ / *path, (archive_entry_perm(entry) & 0111) != 0);
      case AE_IFLNK:
        return note_link(*path, archive_entry_symlink(entry));
      default:
        return bad_zip("The zip contains an entry that is neither a file nor a directory.");
    }
  }

  static Result<void> make_directories(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error) return {};
    errno = error.value();
    return cannot_write(path);
  }

  // O_EXCL refuses duplicate names, and with them writing through an existing entry.
  Result<void> write_file(const fs::path& path, bool executable) {
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
      if (errno == EEXIST || errno == EISDIR)
        return bad_zip("The zip contains two files with the same name.");
      return cannot_write(path);
    }
    auto written = write_data(file, path);
    if (written && ::fchmod(file, executable ? 0755 : 0644) != 0) written = cannot_write(path);
    ::close(file);
    return written;
  }

  Result<void> write_data(int file, const fs::path& path) {
    std::vector<char> block(64u << 10);
    while (true) {
      const la_ssize_t got = archive_read_data(archive_.get(), block.data(), block.size());
      if (got < 0) return not_a_zip();
      if (got == 0) return {};
      bytes_ += static_cast<std::uint64_t>(got);
      if (bytes_ > kUnpackedBytesMax) {
        return bad_zip(
            fmt::format("Unzipped size must be smaller than {} bytes", kUnpackedBytesMax));
      }
      for (la_ssize_t done = 0; done < got;) {
        const auto wrote = ::write(file, block.data() + done, static_cast<std::size_t>(got - done));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return cannot_write(path);
        done += wrote;
      }
    }
  }

  Result<void> note_link(const fs::path& path, const char* target) {
    if (target == nullptr || !stays_within(path, target)) {
      return bad_zip("The zip contains a link that leads out of it.");
    }
    links_.emplace_back(path, target);
    return {};
  }

  // Links are created last, so that nothing is ever written through one.
  Result<void> make_links() {
    for (const auto& [path, target] : links_) {
      const fs::path full = directory_ / path;
      RETURN_IF_ERROR(make_directories(full.parent_path()));
      if (::symlink(target.c_str(), full.c_str()) == 0) continue;
      if (errno == EEXIST) return bad_zip("The zip contains two files with the same name.");
      return cannot_write(full);
    }
    return check_links();
  }

  // A link through another link may lead outside even if neither does alone.
  Result<void> check_links() {
    std::error_code error;
    const std::string root = fs::canonical(directory_, error).string() + "/";
    for (const auto& [path, target] : links_) {
      const fs::path reached = fs::weakly_canonical(directory_ / path, error);
      if (error || !(reached.string() + "/").starts_with(root)) {
        return bad_zip("The zip contains a link that leads out of it.");
      }
    }
    return {};
  }

  const std::string_view zip_;
  const fs::path& directory_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  std::size_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<std::pair<fs::path, std::string>> links_;
};

}  // namespace

Result<void> unpack(std::string_view zip, const fs::path& directory) {
  if (zip.size() > kZipBytesMax) {
    return bad_zip(fmt::format("The zip must be smaller than {} bytes.", kZipBytesMax));
  }
  return Unpacker(zip, directory).run();
}

}  // namespace redrive::packages
