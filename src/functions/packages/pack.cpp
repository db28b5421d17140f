#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "functions/packages/package.h"

#include "base/file_system.h"

namespace redrive::packages {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kLeftBehind = {".git", ".hg", "__pycache__", ".DS_Store"};
constexpr std::time_t kOneTime = 315'532'800;  // 1980, the start of zip's time range.

std::unexpected<Error> cannot_pack(std::string message) {
  return fail(ErrorCode::usage, std::move(message));
}

struct PackedFile {
  std::string name;
  fs::path path;
};

// Follows links; a cycle is stopped by the limit on the number of files.
Result<void> gather(const fs::path& directory, const std::string& prefix,
                    std::vector<PackedFile>& files) {
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (std::ranges::find(kLeftBehind, name) != kLeftBehind.end()) continue;
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      RETURN_IF_ERROR(gather(at->path(), prefix + name + "/", files));
    } else if (at->is_regular_file(ignored)) {
      files.push_back({prefix + name, at->path()});
    }
    if (files.size() > kFilesMax || prefix.size() > 1000) {
      return cannot_pack(fmt::format("{} has too many files", directory.string()));
    }
  }
  if (!error) return {};
  return cannot_pack(fmt::format("cannot read {}: {}", directory.string(), error.message()));
}

Result<std::string> read_whole(const fs::path& path) {
  if (auto bytes = read_file(path)) return *std::move(bytes);
  return cannot_pack(fmt::format("cannot read {}", path.string()));
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return (fs::status(path, ignored).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

la_ssize_t append_bytes(archive*, void* out, const void* bytes, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

class Packer {
 public:
  Packer() : archive_(archive_write_new(), &archive_write_free) {
    archive_write_set_format_zip(archive_.get());
    archive_write_set_bytes_per_block(archive_.get(), 0);
    archive_write_open(archive_.get(), &out_, nullptr, &append_bytes, nullptr);
  }

  Result<void> add(const PackedFile& file) {
    const std::string bytes = TRY(read_whole(file.path));
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         &archive_entry_free);
    archive_entry_set_pathname(entry.get(), file.name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), is_program(file.path) ? 0755 : 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_mtime(entry.get(), kOneTime, 0);
    const bool written = archive_write_header(archive_.get(), entry.get()) >= ARCHIVE_WARN &&
                         archive_write_data(archive_.get(), bytes.data(), bytes.size()) ==
                             static_cast<la_ssize_t>(bytes.size());
    if (!written) {
      return cannot_pack(
          fmt::format("cannot pack {}: {}", file.name, archive_error_string(archive_.get())));
    }
    if (out_.size() <= kZipBytesMax) return {};
    return cannot_pack(fmt::format("the code is larger than {} bytes as a zip", kZipBytesMax));
  }

  std::string finish() {
    archive_write_close(archive_.get());
    return std::move(out_);
  }

 private:
  std::string out_;  // Declared before archive_, which writes into it until it is freed.
  std::unique_ptr<archive, int (*)(archive*)> archive_;
};

}  // namespace

Result<std::string> pack(const fs::path& source) {
  std::vector<PackedFile> files;
  std::error_code ignored;
  if (fs::is_directory(source, ignored)) {
    RETURN_IF_ERROR(gather(source, "", files));
  } else {
    files.push_back({source.filename().string(), source});
  }
  if (files.empty()) return cannot_pack(fmt::format("{} is empty", source.string()));
  std::ranges::sort(files, {}, &PackedFile::name);
  Packer packer;
  for (const PackedFile& file : files) RETURN_IF_ERROR(packer.add(file));
  return packer.finish();
}

}  // namespace redrive::packages
