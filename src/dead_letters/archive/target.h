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
  std::string next;  // Pass to list() to continue; empty: this is the last page.
};

// Storage for archived messages under keys such as `prefix/Nov-16-2026/1794787200.123_id.json`. For
// one thread.
//
// A document is durable when `put` returns. Missing documents are `resource_not_found`; transient
// errors are reported only after several attempts.
class ArchiveTarget {
 public:
  virtual ~ArchiveTarget() = default;
  virtual Result<void> put(const std::string& key, std::string_view document) = 0;
  // Stores several documents, possibly faster than one by one. One result for each.
  virtual std::vector<Result<void>> put_all(std::span<const NewDocument> documents);
  virtual Result<std::string> get(const std::string& key) = 0;
  // In key order.
  virtual Result<ArchivePage> list(const std::string& prefix, const std::string& next) = 0;
  // Removing a missing document is not an error.
  virtual Result<void> remove(const std::string& key) = 0;
};

// Location of an archive as given by users.
struct ArchiveLocation {
  enum class Kind : std::uint8_t { s3, directory };
  Kind kind = Kind::s3;
  std::string bucket;     // For s3://bucket/prefix.
  std::string prefix;     // Without leading and trailing slashes.
  std::string directory;  // For file:///directory.
};
// `s3://bucket/prefix` or `file:///directory`; the error says what is wrong.
Result<ArchiveLocation> parse_archive_location(std::string_view text);

// Documents as plain files below a directory, which is created if missing.
std::unique_ptr<ArchiveTarget> directory_target(std::string directory);

}  // namespace redrive::archive
