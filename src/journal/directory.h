#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "journal/files.h"
#include "journal/format.h"
#include "journal/pages.h"

// Reading and writing the small parts of a journal's directory: which files are there, the
// manifest, the headers of segments.
namespace redrive::journal {

struct Directory {
  std::vector<std::uint32_t> segments;  // Sorted.
  std::vector<std::string> spares;
  bool manifest = false;
  std::string stranger;  // One file that is not part of any journal, if there are such.
};
Result<Directory> list_directory(Files& files);
// Refuses a directory that holds something, but nothing of a journal.
Result<void> check_not_foreign(Files& files, const Directory& directory);

// Errors: storage_damaged, storage_foreign or what reading gave.
Result<Manifest> read_manifest(Files& files);
// Durable when it returns; a crash leaves the old or the new one.
Result<void> write_manifest(Files& files, const Manifest& manifest);
// Creates the temporary file that write_manifest() needs, if there is none. A full disk is no
// error.
Result<void> keep_manifest_temporary(Files& files, const Manifest& manifest);

Result<SegmentHeader> read_segment_header(Files& files, std::uint32_t number);

// Reads a segment up to `limit`, or as much of it as there is, into `memory`.
Result<std::string_view> read_segment(Files& files, std::uint32_t number, std::uint64_t limit,
                                      Pages& memory);
inline constexpr std::uint64_t kWholeSegment = UINT64_MAX;

// Makes a file with this header and renames it, so that the segment's name never exists without its
// header: `temporary` is the open file's present name. Durable when it returns.
Result<void> publish_segment(Files& files, File& file, const std::string& temporary,
                             const SegmentHeader& header);

Error damaged_at(Files& files, const std::string& name, std::uint64_t offset,
                 std::string_view what);

}  // namespace redrive::journal
