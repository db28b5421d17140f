#include "objects/object_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/digest.h"
#include "base/result.h"
#include "base/text.h"
#include "objects/durable_file.h"

namespace redrive::objects {
namespace {

constexpr std::string_view kMagic = "redrive-object 1 ";
constexpr std::size_t kLengthDigits = 8;
constexpr std::size_t kFirstLineBytes = kMagic.size() + kLengthDigits + 1;
constexpr std::size_t kHeadBytesMax = 1u << 20;

// Parses one line of the head. Returns false if it is invalid.
bool read_line(std::string_view line, ObjectInfo& info) {
  const auto words = split(line, ' ');
  if (words.size() < 2) return false;
  const std::string value = percent_decode(words[1], false);
  if (words[0] == "key") {
    info.key = value;
  } else if (words[0] == "md5") {
    info.md5 = value;
  } else if (words[0] == "type") {
    info.content_type = value;
  } else if (words[0] == "size") {
    const auto size = parse_int<std::uint64_t>(value);
    info.size = size.value_or(0);
    return size.has_value();
  } else if (words[0] == "modified") {
    const auto at = parse_int<std::int64_t>(value);
    info.modified = Timestamp(at.value_or(0));
    return at.has_value();
  } else if (words[0] == "header" && words.size() == 3) {
    info.headers.emplace_back(value, percent_decode(words[2], false));
  } else {
    return false;
  }
  return true;
}

bool read_lines(std::string_view text, ObjectInfo& info) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || !read_line(text.substr(0, end), info)) return false;
    text.remove_prefix(end + 1);
  }
  return info.md5.size() == 32;
}

std::optional<std::size_t> lines_bytes(std::string_view first_line) {
  if (!first_line.starts_with(kMagic) || first_line.back() != '\n') return std::nullopt;
  std::size_t bytes = 0;
  for (const char c : first_line.substr(kMagic.size(), kLengthDigits)) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    bytes = bytes * 16 + static_cast<std::size_t>(digit);
  }
  return bytes <= kHeadBytesMax ? std::optional(bytes) : std::nullopt;
}

std::unexpected<Failure> damaged(const std::filesystem::path& path, std::string_view what) {
  return failure(Fault::damaged, fmt::format("{}: {}", path.string(), what));
}

}  // namespace

std::string encode_head(const ObjectInfo& info) {
  const auto escaped = [](std::string_view text) { return percent_encode(text, false); };
  std::string lines = fmt::format("key {}\nsize {}\nmd5 {}\nmodified {}\ntype {}\n",
                                  escaped(info.key),
                                  info.size,
                                  info.md5,
                                  info.modified.ms(),
                                  escaped(info.content_type));
  for (const auto& [name, value] : info.headers) {
    lines += fmt::format("header {} {}\n", escaped(name), escaped(value));
  }
  return fmt::format("{}{:08x}\n{}", kMagic, lines.size(), lines);
}

Outcome<ObjectFile> ObjectFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) {
    return failure(Fault::no_such_key, "The specified key does not exist.");
  }
  if (descriptor < 0) return system_failure("open", path, errno);
  ObjectFile file(descriptor, path);
  RETURN_IF_ERROR(file.read_head());
  return file;
}

ObjectFile::~ObjectFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

ObjectFile::ObjectFile(ObjectFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      info_(std::move(other.info_)),
      data_begin_(other.data_begin_) {}

ObjectFile& ObjectFile::operator=(ObjectFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(info_, other.info_);
  std::swap(data_begin_, other.data_begin_);
  return *this;
}

Outcome<void> ObjectFile::read_head() {
  const std::string first_line = TRY(read_at(0, kFirstLineBytes));
  const auto bytes = lines_bytes(first_line);
  if (!bytes) return damaged(path_, "this is not an object's file");
  const std::string lines = TRY(read_at(kFirstLineBytes, *bytes));
  if (!read_lines(lines, info_)) return damaged(path_, "its header cannot be read");
  data_begin_ = kFirstLineBytes + *bytes;
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) return system_failure("examine", path_, errno);
  if (static_cast<std::uint64_t>(status.st_size) == data_begin_ + info_.size) return {};
  return damaged(path_, "its length does not match its header");
}

Outcome<std::string> ObjectFile::read(std::uint64_t offset, std::uint64_t bytes) const {
  std::string data = TRY(read_at(data_begin_ + offset, bytes));
  if (offset != 0 || bytes != info_.size) return data;
  const Md5 sum = md5(data);
  if (to_hex({reinterpret_cast<const char*>(sum.data()), sum.size()}) == info_.md5) return data;
  return damaged(path_, "its bytes do not match their checksum");
}

Outcome<std::string> ObjectFile::read_at(std::uint64_t offset, std::uint64_t bytes) const {
  std::string data(bytes, '\0');
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(descriptor_, data.data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read", path_, errno);
    if (got == 0) return damaged(path_, "it ends too early");
    done += static_cast<std::size_t>(got);
  }
  return data;
}

}  // namespace redrive::objects
