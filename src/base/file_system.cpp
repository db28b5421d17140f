#include "base/file_system.h"

#include <cstdio>
#include <memory>

namespace redrive {

namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::optional<std::string> read_file(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return std::nullopt;
  std::string bytes;
  for (std::size_t size = kReadBytes; size == kReadBytes;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kReadBytes);
    size = std::fread(bytes.data() + before, 1, kReadBytes, file.get());
    bytes.resize(before + size);
  }
  if (std::ferror(file.get()) != 0) return std::nullopt;
  return bytes;
}

}  // namespace redrive
