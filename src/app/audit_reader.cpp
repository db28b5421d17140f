#include "app/audit_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "net/http/poller.h"

namespace redrive::app {
namespace {

constexpr std::uint64_t kBlockBytes = 64u << 10;

struct AuditFile {
  http::Descriptor file;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
};

AuditFile open_audit_file(const std::string& path) {
  AuditFile opened{.file = http::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))};
  struct stat status {};
  if (!opened.file.is_open() || ::fstat(opened.file.number(), &status) != 0) {
    return AuditFile{.file = http::Descriptor()};
  }
  opened.inode = status.st_ino;
  opened.bytes = static_cast<std::uint64_t>(status.st_size);
  return opened;
}

// Newest first. Open files stay readable when they are rotated away.
std::vector<AuditFile> open_audit_files(const std::string& path) {
  std::vector<AuditFile> files;
  for (int age = 0;; ++age) {
    AuditFile file = open_audit_file(age == 0 ? path : fmt::format("{}.{}", path, age));
    if (!file.file.is_open()) return files;
    // A rotation in between shows the same file twice.
    const bool known = std::ranges::find(files, file.inode, &AuditFile::inode) != files.end();
    if (!known) files.push_back(std::move(file));
  }
}

// Visits the lines that end before `end`, last first, until visit(line, its start) returns false.
template <class Visit>
bool visit_backwards(const AuditFile& file, std::uint64_t end, Visit visit) {
  std::string tail;  // The beginning of the line after the block.
  while (end > 0) {
    const std::uint64_t size = std::min(end, kBlockBytes);
    std::string block(size, '\0');
    const ssize_t got =
        ::pread(file.file.number(), block.data(), size, static_cast<off_t>(end - size));
    if (got != static_cast<ssize_t>(size)) return true;
    end -= size;
    block += tail;
    for (std::size_t stop = block.size(); stop > 0;) {
      const std::size_t before = stop < 2 ? block.npos : block.rfind('\n', stop - 2);
      const std::size_t start = before == block.npos ? 0 : before + 1;
      if (start == 0 && end > 0) {
        tail = block.substr(0, stop);
        break;
      }
      if (!visit(std::string_view(block).substr(start, stop - start), end + start)) return false;
      stop = start;
      tail.clear();
    }
  }
  return true;
}

std::string place_of(const AuditFile& file, std::uint64_t offset) {
  return fmt::format("{}-{}", file.inode, offset);
}

struct Place {
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
};

Result<std::optional<Place>> parse_place(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto parts = split(text, '-');
  const auto inode = parts.size() == 2 ? parse_int<std::uint64_t>(parts[0]) : std::nullopt;
  const auto offset = parts.size() == 2 ? parse_int<std::uint64_t>(parts[1]) : std::nullopt;
  if (inode && offset) return Place{*inode, *offset};
  return fail(ErrorCode::invalid_parameter_value, "`after` must be the `next` of a page.");
}

}  // namespace

Result<manage::AuditLines> AuditReader::page(const manage::AuditQuery& query) const {
  const auto place = TRY(parse_place(query.after));
  const std::vector<AuditFile> files = open_audit_files(path_);
  auto at = files.begin();
  if (place) at = std::ranges::find(files, place->inode, &AuditFile::inode);
  manage::AuditLines found;
  std::uint64_t looked_at = 0;
  for (bool first = true; at != files.end(); ++at, first = false) {
    const std::uint64_t end = place && first ? std::min(place->offset, at->bytes) : at->bytes;
    const bool all = visit_backwards(*at, end, [&](std::string_view line, std::uint64_t start) {
      looked_at += line.size();
      if (line.ends_with('\n')) line.remove_suffix(1);
      if (manage::matches(query, line)) found.lines.emplace_back(line);
      const bool full = found.lines.size() >= query.limit || looked_at >= kPageBytesMax;
      const bool last = start == 0 && std::next(at) == files.end();
      if (full && !last) found.next = place_of(*at, start);
      return !full;
    });
    if (!all) break;
  }
  return found;
}

}  // namespace redrive::app
