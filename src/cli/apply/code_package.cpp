#include "cli/apply/code_package.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <system_error>

#include "functions/packages/package.h"

namespace redrive::cli {
namespace {

namespace fs = std::filesystem;

// A temporary directory, removed by the destructor.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "redrive-code-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const fs::path& path() const { return path_; }  // Empty if it could not be created.

 private:
  fs::path path_;
};

}  // namespace

Result<std::string> package_code(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return fail(ErrorCode::usage, fmt::format("no code at {}", path.string()));
  }
  if (path.extension() != ".zip" || fs::is_directory(path, error)) return packages::pack(path);
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (!in) return fail(ErrorCode::usage, fmt::format("cannot read {}", path.string()));
  return std::move(bytes).str();
}

Result<std::string> package_text(std::string_view runtime, std::string_view text) {
  const TemporaryDirectory directory;
  const fs::path file =
      directory.path() / (runtime.starts_with("nodejs") ? "index.js" : "index.py");
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (directory.path().empty() || !out) {
    return fail(ErrorCode::usage, "cannot pack the code: cannot create temporary files");
  }
  return packages::pack(directory.path());
}

}  // namespace redrive::cli
