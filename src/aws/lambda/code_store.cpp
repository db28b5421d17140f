#include "aws/lambda/code_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/digest.h"
#include "base/file_system.h"
#include "base/text.h"
#include "functions/packages/package.h"

namespace redrive::lambda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinished = ".unfinished";
// Handlers may run as another user, which must be able to read the code.
constexpr auto kReadable = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                           fs::perms::others_read | fs::perms::others_exec;

std::string base64_of(const Sha256& digest) {
  return base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string hex_of(std::string_view sha256) {
  return to_hex(base64_decode(sha256).value_or(std::string()));
}

Result<void> code_failure(const objects::Outcome<void>& outcome) {
  if (outcome) return {};
  const bool full = outcome.error().fault == objects::Fault::full;
  return fail(full ? ErrorCode::storage_full : ErrorCode::storage_io, outcome.error().message);
}

Result<void> make_readable_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) fs::permissions(path, kReadable, error);
  if (!error) return {};
  return fail(ErrorCode::storage_io,
              fmt::format("cannot create {}: {}", path.string(), error.message()));
}

}  // namespace

CodeStore::~CodeStore() {
  std::error_code ignored;
  if (options_.passing) fs::remove_all(options_.root, ignored);
}

fs::path CodeStore::zip_path(std::string_view sha256) const {
  return options_.root / (hex_of(sha256) + ".zip");
}

fs::path CodeStore::code_path(std::string_view sha256) const {
  return options_.root / "code" / hex_of(sha256);
}

Result<CodeStore::Stored> CodeStore::put(std::string_view zip) {
  Stored stored{.sha256 = base64_of(redrive::sha256(zip)), .size = zip.size()};
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(make_readable_directory(options_.root));
  RETURN_IF_ERROR(make_readable_directory(options_.root / "code"));
  if (!fs::exists(code_path(stored.sha256))) {
    RETURN_IF_ERROR(unpack_into_place(zip, code_path(stored.sha256)));
  }
  if (!fs::exists(zip_path(stored.sha256))) {
    RETURN_IF_ERROR(code_failure(
        objects::write_durably(zip_path(stored.sha256), std::span(&zip, 1), options_.sync)));
  }
  stored.pin = std::make_shared<int>();
  std::erase_if(pins_, [](const auto& pin) { return pin.second.expired(); });
  pins_.emplace(stored.sha256, stored.pin);
  return stored;
}

void CodeStore::remove_unless(const std::string& sha256, const std::function<bool()>& used) {
  const MutexLock lock(mutex_);
  const auto [first, last] = pins_.equal_range(sha256);
  const bool pinned =
      std::any_of(first, last, [](const auto& pin) { return !pin.second.expired(); });
  if (pinned || used()) return;
  std::error_code ignored;
  fs::remove(zip_path(sha256), ignored);
  fs::remove_all(code_path(sha256), ignored);
}

Result<std::string> CodeStore::zip(std::string_view sha256) const {
  auto bytes = read_file(zip_path(sha256));
  if (bytes && base64_of(redrive::sha256(*bytes)) == sha256) return *std::move(bytes);
  return fail(
      ErrorCode::storage_damaged,
      fmt::format("the code of a function is missing or damaged: {}", zip_path(sha256).string()));
}

Result<fs::path> CodeStore::directory(std::string_view sha256) {
  const fs::path path = code_path(sha256);
  const MutexLock lock(mutex_);
  if (fs::exists(path)) return path;
  RETURN_IF_ERROR(unpack_into_place(TRY(zip(sha256)), path));
  return path;
}

// Unpacked under a temporary name, so that a directory with the final name is complete.
Result<void> CodeStore::unpack_into_place(std::string_view zip, const fs::path& place) {
  const fs::path unfinished = place.parent_path() / kUnfinished;
  std::error_code error;
  fs::remove_all(unfinished, error);
  RETURN_IF_ERROR(make_readable_directory(place.parent_path()));
  RETURN_IF_ERROR(make_readable_directory(unfinished));
  auto unpacked = packages::unpack(zip, unfinished);
  if (unpacked) {
    fs::rename(unfinished, place, error);
    if (!error) return {};
    unpacked = fail(ErrorCode::storage_io,
                    fmt::format("cannot rename {}: {}", place.string(), error.message()));
  }
  fs::remove_all(unfinished, error);
  return unpacked;
}

void CodeStore::keep_only(const std::set<std::string>& sha256s) {
  std::set<std::string> kept;
  for (const std::string& sha256 : sha256s) kept.insert(hex_of(sha256) + ".zip");
  const MutexLock lock(mutex_);
  // Unpacked code is not synced, so after a crash it may be incomplete.
  std::error_code error;
  fs::remove_all(options_.root / "code", error);
  for (fs::directory_iterator at(options_.root, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (!kept.contains(at->path().filename().string())) fs::remove_all(at->path(), ignored);
  }
}

}  // namespace redrive::lambda
