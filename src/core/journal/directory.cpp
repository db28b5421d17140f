#include "core/journal/directory.h"

#include <fmt/format.h>

#include <algorithm>

namespace redrive::journal {
namespace {

Error foreign(Files& files, const std::string& name) {
  return {ErrorCode::storage_foreign,
          fmt::format("{} has an unknown journal format version; this program reads version {}",
                      files.path(name),
                      kFormatVersion)};
}

Result<std::string> read_start(Files& files, const std::string& name, std::size_t size) {
  const auto file = TRY(files.open(name));
  std::string bytes(size, '\0');
  bytes.resize(TRY(file->read(0, bytes.data(), bytes.size())));
  return bytes;
}

bool belongs(std::string_view name) {
  return name == kLockName || name == kManifestTemporaryName || name.ends_with(kDamagedSuffix);
}

}  // namespace

Result<Directory> list_directory(Files& files) {
  Directory directory;
  for (const std::string& name : TRY(files.list())) {
    if (name == kManifestName) {
      directory.manifest = true;
    } else if (const auto number = parse_segment_name(name)) {
      directory.segments.push_back(*number);
    } else if (parse_spare_name(name)) {
      directory.spares.push_back(name);
    } else if (!belongs(name)) {
      directory.foreign_file = name;
    }
  }
  std::sort(directory.segments.begin(), directory.segments.end());
  std::sort(directory.spares.begin(), directory.spares.end());
  return directory;
}

Result<void> check_not_foreign(Files& files, const Directory& directory) {
  const bool ours = directory.manifest || !directory.segments.empty();
  if (ours || directory.foreign_file.empty()) return {};
  return fail(ErrorCode::storage_foreign,
              fmt::format("{} contains {}, which is not part of a journal, and no manifest: a "
                          "journal can only be created in an empty directory",
                          files.path(""),
                          directory.foreign_file));
}

Result<Manifest> read_manifest(Files& files) {
  const std::string name(kManifestName);
  const std::string bytes = TRY(read_start(files, name, sizeof(ManifestBytes)));
  const auto manifest = decode_manifest(bytes);
  if (manifest) return *manifest;
  if (manifest.error() == Unreadable::foreign) return std::unexpected(foreign(files, name));
  return std::unexpected(damaged_at(files, name, 0, "the manifest cannot be read"));
}

// The manifest and its temporary file exchange names and both are kept, so a manifest can be
// written even to a full disk. Overwriting the temporary file in place is safe, because nothing
// reads it.
Result<void> write_manifest(Files& files, const Manifest& manifest) {
  const std::string temporary(kManifestTemporaryName);
  const std::string name(kManifestName);
  // A killed run may have exchanged the names without making that durable: after a power loss, the
  // file about to be overwritten would be the manifest again.
  RETURN_IF_ERROR(files.sync_directory());
  auto file = files.open(temporary);
  if (!file) file = files.create(temporary);
  if (!file) return std::unexpected(file.error());
  RETURN_IF_ERROR((*file)->write(0, encode_manifest(manifest)));
  RETURN_IF_ERROR((*file)->sync());
  RETURN_IF_ERROR(files.open(name) ? files.exchange(temporary, name)
                                   : files.rename(temporary, name));
  RETURN_IF_ERROR(files.sync_directory());
  return keep_manifest_temporary(files, manifest);
}

Result<void> keep_manifest_temporary(Files& files, const Manifest& manifest) {
  const std::string temporary(kManifestTemporaryName);
  if (files.open(temporary)) return {};
  auto file = files.create(temporary);
  auto kept = file ? (*file)->write(0, encode_manifest(manifest)) : std::unexpected(file.error());
  if (kept) kept = (*file)->sync();
  if (kept) kept = files.sync_directory();
  // On a full disk, write_manifest() has to create the file later.
  if (!kept && kept.error().code == ErrorCode::storage_full) return {};
  return kept;
}

Result<SegmentHeader> read_segment_header(Files& files, std::uint32_t number) {
  const std::string name = segment_name(number);
  const std::string bytes = TRY(read_start(files, name, kSegmentHeaderBytes));
  const auto header = decode_segment_header(bytes, number);
  if (header) return *header;
  if (header.error() == Unreadable::foreign) return std::unexpected(foreign(files, name));
  return std::unexpected(damaged_at(files, name, 0, "the segment's header cannot be read"));
}

Result<std::string_view> read_segment(Files& files, std::uint32_t number, std::uint64_t limit,
                                      Pages& memory) {
  const auto file = TRY(files.open(segment_name(number)));
  const std::uint64_t size = std::min(limit, TRY(file->size()));
  memory.grow(size);
  const std::size_t got = TRY(file->read_pages(0, memory.data(), whole_pages(size)));
  return std::string_view(memory.data(), std::min<std::size_t>(got, size));
}

Result<void> publish_segment(Files& files, File& file, const std::string& temporary,
                             const SegmentHeader& header) {
  RETURN_IF_ERROR(file.write(0, encode_segment_header(header)));
  RETURN_IF_ERROR(file.sync());
  RETURN_IF_ERROR(files.rename(temporary, segment_name(header.number)));
  return files.sync_directory();
}

Error damaged_at(Files& files, const std::string& name, std::uint64_t offset,
                 std::string_view what) {
  return {ErrorCode::storage_damaged,
          fmt::format("{} is damaged at byte {}: {}; see `redrive journal check`",
                      files.path(name),
                      offset,
                      what)};
}

}  // namespace redrive::journal
