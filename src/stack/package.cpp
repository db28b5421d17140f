#include "stack/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <system_error>

namespace redrive::stack {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPackageBytesMax = 250u << 20;
constexpr std::size_t kPackageFilesMax = 65'535;     // A zip counts them in two bytes.
constexpr std::uint16_t kFirstDay = (1u << 5) | 1u;  // 1980-01-01, the first day zips know.

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
    table[i] = value;
  }
  return table;
}();

std::uint32_t zip_crc(std::string_view bytes) {
  std::uint32_t sum = ~0u;
  for (const char c : bytes)
    sum = kCrcTable[(sum ^ static_cast<std::uint8_t>(c)) & 255] ^ (sum >> 8);
  return ~sum;
}

void put16(std::string& out, std::uint32_t value) {
  out += static_cast<char>(value & 255);
  out += static_cast<char>((value >> 8) & 255);
}

void put32(std::string& out, std::uint32_t value) {
  put16(out, value & 0xffff);
  put16(out, value >> 16);
}

// What a file's own header and its line in the directory have in common: version to extract with,
// flags (names are UTF-8), method (stored), time, date, digest, sizes.
void put_common(std::string& out, const PackedFile& file, std::uint32_t crc) {
  put16(out, 20);
  put16(out, 1u << 11);
  put16(out, 0);
  put16(out, 0);
  put16(out, kFirstDay);
  put32(out, crc);
  put32(out, static_cast<std::uint32_t>(file.bytes.size()));
  put32(out, static_cast<std::uint32_t>(file.bytes.size()));
  put16(out, static_cast<std::uint32_t>(file.name.size()));
  put16(out, 0);
}

void put_directory_line(std::string& out, const PackedFile& file, std::uint32_t crc,
                        std::size_t offset) {
  constexpr std::uint32_t kMadeOnUnix = (3u << 8) | 20u;
  const std::uint32_t mode = file.executable ? 0100755u : 0100644u;
  put32(out, 0x02014b50);
  put16(out, kMadeOnUnix);
  put_common(out, file, crc);
  put16(out, 0);
  put16(out, 0);
  put16(out, 0);
  put32(out, mode << 16);
  put32(out, static_cast<std::uint32_t>(offset));
  out += file.name;
}

Result<std::string> file_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) {
    return fail(ErrorCode::usage, fmt::format("cannot read {}", path.string()));
  }
  return bytes;
}

bool is_executable(const fs::path& path) {
  std::error_code ignored;
  return (fs::status(path, ignored).permissions() & fs::perms::owner_exec) != fs::perms::none;
}

Result<std::vector<PackedFile>> files_below(const fs::path& directory) {
  std::vector<PackedFile> files;
  std::uint64_t total = 0;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(directory, error);
       !error && at != fs::recursive_directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name == "__pycache__" || name == ".git") {
      at.disable_recursion_pending();
      continue;
    }
    if (!at->is_regular_file(error)) continue;
    files.push_back({.name = at->path().lexically_relative(directory).generic_string(),
                     .bytes = TRY(file_bytes(at->path())),
                     .executable = is_executable(at->path())});
    total += files.back().bytes.size();
    if (total > kPackageBytesMax || files.size() > kPackageFilesMax) {
      return fail(ErrorCode::usage,
                  fmt::format("{} is larger than a function's code may be", directory.string()));
    }
  }
  if (error) {
    return fail(ErrorCode::usage,
                fmt::format("cannot read {}: {}", directory.string(), error.message()));
  }
  if (files.empty()) return fail(ErrorCode::usage, fmt::format("{} is empty", directory.string()));
  return files;
}

}  // namespace

std::string zip(std::vector<PackedFile> files) {
  std::ranges::sort(files, {}, &PackedFile::name);
  std::string out;
  std::string directory;
  for (const PackedFile& file : files) {
    const std::uint32_t crc = zip_crc(file.bytes);
    put_directory_line(directory, file, crc, out.size());
    put32(out, 0x04034b50);
    put_common(out, file, crc);
    out.append(file.name).append(file.bytes);
  }
  const std::size_t start = out.size();
  out += directory;
  put32(out, 0x06054b50);
  put32(out, 0);
  put16(out, static_cast<std::uint32_t>(files.size()));
  put16(out, static_cast<std::uint32_t>(files.size()));
  put32(out, static_cast<std::uint32_t>(directory.size()));
  put32(out, static_cast<std::uint32_t>(start));
  put16(out, 0);
  return out;
}

Result<std::string> package(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return zip(TRY(files_below(path)));
  if (!fs::is_regular_file(path, error)) {
    return fail(ErrorCode::usage, fmt::format("there is no code at {}", path.string()));
  }
  std::string bytes = TRY(file_bytes(path));
  if (bytes.size() > kPackageBytesMax) {
    return fail(ErrorCode::usage,
                fmt::format("{} is larger than a function's code may be", path.string()));
  }
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06")) return bytes;
  return zip({{.name = path.filename().string(),
               .bytes = std::move(bytes),
               .executable = is_executable(path)}});
}

std::string_view inline_file_name(std::string_view runtime) {
  return runtime.starts_with("nodejs") ? "index.js" : "index.py";
}

}  // namespace redrive::stack
