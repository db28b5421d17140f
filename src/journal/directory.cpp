#include "journal/directory.h"

#include <fmt/format.h>

#include <algorithm>

namespace redrive::journal {
namespace {

Error foreign(Files& files, const std::string& name) {
  return {
      ErrorCode::storage_foreign,
      fmt::format("{} was written by a version of the journal format this program does not know; "
                  "it reads version {}",
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
      directory.stranger = name;
    }
  }
  std::sort(directory.segments.begin(), directory.segments.end());
  std::sort(directory.spares.begin(), directory.spares.end());
  return directory;
}

Result<void> check_not_foreign(Files& files, const Directory& directory) {
  const bool ours = directory.manifest || !directory.segments.empty();
  if (ours || directory.stranger.empty()) return {};
  return fail(ErrorCode::storage_foreign,
              fmt::format("{} holds {}, which is no part of a journal, and there is no manifest: a "
                          "journal is only started in an empty directory",
                          files.path(""),
                          directory.stranger));
}

Result<Manifest> read_manifest(Files& files) {
  const std::string name(kManifestName);
  const std::string bytes = TRY(read_start(files, name, sizeof(ManifestBytes)));
  const auto manifest = decode_manifest(bytes);
  if (manifest) return *manifest;
  if (manifest.error() == Unreadable::foreign) return std::unexpected(foreign(files, name));
  return std::unexpected(damaged_at(files, name, 0, "the manifest cannot be read"));
}

// The manifest and its temporary file exchange names, and both stay: a manifest can be written to a
// disk without a free byte. Writing in place is safe, because nothing reads the temporary file.
Result<void> write_manifest(Files& files, const Manifest& manifest) {
  const std::string temporary(kManifestTemporaryName);
  const std::string name(kManifestName);
  // A run that was killed may have exchanged the names without making that durable: after a power
  // loss, the file that is about to be overwritten would be the manifest again.
  CHECK(files.sync_directory());
  auto file = files.open(temporary);
  if (!file) file = files.create(temporary);
  if (!file) return std::unexpected(file.error());
  CHECK((*file)->write(0, encode_manifest(manifest)));
  CHECK((*file)->sync());
  CHECK(files.open(name) ? files.exchange(temporary, name) : files.rename(temporary, name));
  CHECK(files.sync_directory());
  return keep_manifest_temporary(files, manifest);
}

Result<void> keep_manifest_temporary(Files& files, const Manifest& manifest) {
  const std::string temporary(kManifestTemporaryName);
  if (files.open(temporary)) return {};
  auto file = files.create(temporary);
  auto kept = file ? (*file)->write(0, encode_manifest(manifest)) : std::unexpected(file.error());
  if (kept) kept = (*file)->sync();
  if (kept) kept = files.sync_directory();
  // Without space for it the next manifest has to find some.
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
  CHECK(file.write(0, encode_segment_header(header)));
  CHECK(file.sync());
  CHECK(files.rename(temporary, segment_name(header.number)));
  return files.sync_directory();
}

Error damaged_at(Files& files, const std::string& name, std::uint64_t offset,
                 std::string_view what) {
  return {ErrorCode::storage_damaged,
          fmt::format("{} is damaged at byte {}: {}; `redrive journal check` tells more",
                      files.path(name),
                      offset,
                      what)};
}

}  // namespace redrive::journal
