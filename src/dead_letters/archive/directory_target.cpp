#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"
#include "dead_letters/archive/target.h"
#include "objects/durable_file.h"

namespace redrive::archive {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPageEntries = 1000;

// Refuses keys that could lead out of the directory or be hidden in it.
bool is_harmless_key(std::string_view key) {
  if (key.empty() || key.find('\0') != key.npos) return false;
  return std::ranges::none_of(split(key, '/'), [](std::string_view segment) {
    return segment.empty() || segment == "." || segment == "..";
  });
}

Result<void> told(const objects::Outcome<void>& outcome) {
  if (outcome) return {};
  return fail(outcome.error().fault == objects::Fault::full ? ErrorCode::storage_full
                                                            : ErrorCode::storage_io,
              outcome.error().message);
}

class DirectoryTarget final : public ArchiveTarget {
 public:
  explicit DirectoryTarget(std::string directory) : root_(std::move(directory)) {}

  Result<void> put(const std::string& key, std::string_view document) override {
    const fs::path path = TRY(path_of(key));
    RETURN_IF_ERROR(make_directory(path.parent_path()));
    const std::array<std::string_view, 1> parts = {document};
    return told(objects::write_durably(path, parts, objects::Sync::yes));
  }

  // Writes all files before syncing the first, and syncs each directory once.
  std::vector<Result<void>> put_all(std::span<const NewDocument> documents) override {
    std::vector<Result<fs::path>> written;
    for (const NewDocument& document : documents) written.push_back(write(document));
    std::vector<Result<void>> results;
    std::map<fs::path, Result<void>> directories;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      results.push_back(written[i] ? place(*written[i], documents[i].key)
                                   : std::unexpected(written[i].error()));
      if (results[i]) directories.emplace(written[i]->parent_path(), Result<void>());
    }
    for (auto& [directory, synced] : directories) {
      synced = told(objects::sync_directory(directory, objects::Sync::yes));
    }
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (results[i]) results[i] = directories.at(written[i]->parent_path());
    }
    return results;
  }

  Result<std::string> get(const std::string& key) override {
    const fs::path path = TRY(path_of(key));
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      return fail(ErrorCode::resource_not_found, fmt::format("{} does not exist", path.string()));
    }
    std::ostringstream text;
    text << file.rdbuf();
    if (file.bad()) {
      return fail(ErrorCode::storage_io, fmt::format("cannot read {}", path.string()));
    }
    return std::move(text).str();
  }

  Result<ArchivePage> list(const std::string& prefix, const std::string& next) override {
    if (next.empty()) RETURN_IF_ERROR(load(prefix));
    ArchivePage page;
    auto at = std::ranges::upper_bound(listed_, next, {}, &ArchiveEntry::key);
    for (; at != listed_.end() && page.entries.size() < kPageEntries; ++at) {
      page.entries.push_back(*at);
    }
    if (at != listed_.end()) page.next = page.entries.back().key;
    return page;
  }

  Result<void> remove(const std::string& key) override {
    const fs::path path = TRY(path_of(key));
    std::error_code error;
    fs::remove(path, error);
    if (error) return fail(ErrorCode::storage_io, path.string() + ": " + error.message());
    return told(objects::sync_directory(path.parent_path(), objects::Sync::yes));
  }

 private:
  Result<fs::path> path_of(const std::string& key) const {
    if (is_harmless_key(key)) return root_ / key;
    return fail(ErrorCode::invalid_parameter_value, fmt::format("'{}' is not a valid key", key));
  }

  // Writes under a temporary name, not durable yet.
  Result<fs::path> write(const NewDocument& document) const {
    const fs::path path = TRY(path_of(document.key));
    RETURN_IF_ERROR(make_directory(path.parent_path()));
    const std::array<std::string_view, 1> parts = {document.text};
    auto temporary = objects::write_temporary(path.parent_path(), parts, objects::Sync::no);
    if (!temporary) return std::unexpected(told(std::unexpected(temporary.error())).error());
    return *std::move(temporary);
  }

  Result<void> place(const fs::path& temporary, const std::string& key) const {
    const auto synced = told(objects::sync_file(temporary));
    if (synced) return told(objects::move_into_place(temporary, root_ / key));
    std::error_code ignored;
    fs::remove(temporary, ignored);
    return synced;
  }

  // Syncs each new name into its parent; otherwise a crash could lose the path to the document.
  Result<void> make_directory(const fs::path& path) const {
    std::error_code error;
    if (fs::is_directory(path, error)) return {};
    if (path.has_parent_path() && path != path.parent_path()) {
      RETURN_IF_ERROR(make_directory(path.parent_path()));
    }
    fs::create_directory(path, error);
    if (error) return fail(ErrorCode::storage_io, path.string() + ": " + error.message());
    return told(objects::sync_directory(path.parent_path(), objects::Sync::yes));
  }

  // The file system does not list files in key order, so all of them are read first.
  Result<void> load(const std::string& prefix) {
    listed_.clear();
    std::error_code error;
    if (!fs::exists(root_, error)) return {};
    for (const auto& entry : fs::recursive_directory_iterator(root_, error)) {
      std::error_code ignored;
      if (!entry.is_regular_file(ignored)) continue;
      if (objects::is_temporary(entry.path().filename().string())) continue;
      std::string key = fs::relative(entry.path(), root_, ignored).generic_string();
      if (!key.starts_with(prefix)) continue;
      listed_.push_back({.key = std::move(key), .size = entry.file_size(ignored)});
    }
    if (error) return fail(ErrorCode::storage_io, root_.string() + ": " + error.message());
    std::ranges::sort(listed_, {}, &ArchiveEntry::key);
    return {};
  }

  fs::path root_;
  std::vector<ArchiveEntry> listed_;
};

}  // namespace

std::unique_ptr<ArchiveTarget> directory_target(std::string directory) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  return std::make_unique<DirectoryTarget>(std::move(directory));
}

}  // namespace redrive::archive
