#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/journal/files.h"
#include "core/journal/format.h"
#include "core/journal/pages.h"

// Reads and writes the small parts of a journal's directory: the list of files, the manifest, the
// segment headers.
namespace redrive::journal {

struct Directory {
  std::vector<std::uint32_t> segments;  // Sorted.
  std::vector<std::string> spares;
  bool manifest = false;
  std::string foreign_file;  // A file that belongs to no journal; empty if there is none.
};
Result<Directory> list_directory(Files& files);
// Refuses a directory that is not empty but contains no part of a journal.
Result<void> check_not_foreign(Files& files, const Directory& directory);

// Errors: storage_damaged, storage_foreign, or a read error.
Result<Manifest> read_manifest(Files& files);
// Durable on return; a crash leaves either the old manifest or the new one.
Result<void> write_manifest(Files& files, const Manifest& manifest);
// Creates the temporary file that write_manifest() needs, if it does not exist. A full disk is not
// an error.
Result<void> keep_manifest_temporary(Files& files, const Manifest& manifest);

Result<SegmentHeader> read_segment_header(Files& files, std::uint32_t number);

// Reads a segment up to `limit`, or to its end if that comes first, into `memory`.
Result<std::string_view> read_segment(Files& files, std::uint32_t number, std::uint64_t limit,
                                      Pages& memory);
inline constexpr std::uint64_t kWholeSegment = UINT64_MAX;

// Writes the header and renames the file from `temporary`, its current name, so that the segment's
// name never exists without its header. Durable on return.
Result<void> publish_segment(Files& files, File& file, const std::string& temporary,
                             const SegmentHeader& header);

Error damaged_at(Files& files, const std::string& name, std::uint64_t offset,
                 std::string_view what);

}  // namespace redrive::journal
