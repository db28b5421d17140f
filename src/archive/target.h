#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace redrive::archive {

struct ArchiveEntry {
  std::string key;
  std::uint64_t size = 0;

  bool operator==(const ArchiveEntry&) const = default;
};

struct NewDocument {
  std::string key;
  std::string text;
};

struct ArchivePage {
  std::vector<ArchiveEntry> entries;
  std::string next;  // To be given to list() for what follows; empty: nothing does.
};

// A place for archived messages, known by keys such as `prefix/Nov-16-2026/1794787200.123_id.json`.
// For one thread.
//
// What `put` was given is safe when it returns. Missing documents are `resource_not_found`; what
// may go better later has been tried several times before it is told.
class ArchiveTarget {
 public:
  virtual ~ArchiveTarget() = default;
  virtual Result<void> put(const std::string& key, std::string_view document) = 0;
  // The same for several, which may be quicker than one after another. One result for each.
  virtual std::vector<Result<void>> put_all(std::span<const NewDocument> documents);
  virtual Result<std::string> get(const std::string& key) = 0;
  // In the order of keys.
  virtual Result<ArchivePage> list(const std::string& prefix, const std::string& next) = 0;
  // Taking away what is not there is no fault.
  virtual Result<void> remove(const std::string& key) = 0;
};

// Where an archive is, as people write it.
struct ArchiveLocation {
  enum class Kind : std::uint8_t { s3, directory };
  Kind kind = Kind::s3;
  std::string bucket;     // Of s3://bucket/prefix.
  std::string prefix;     // Without slashes around it.
  std::string directory;  // Of file:///directory.
};
// `s3://bucket/prefix` or `file:///directory`; a failure says what is wrong.
Result<ArchiveLocation> parse_archive_location(std::string_view text);

// Documents as plain files below a directory, made when it is not there.
std::unique_ptr<ArchiveTarget> directory_target(std::string directory);

}  // namespace redrive::archive
