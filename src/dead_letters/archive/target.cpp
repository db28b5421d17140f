#include "dead_letters/archive/target.h"

#include <fmt/format.h>

namespace redrive::archive {

Result<ArchiveLocation> parse_archive_location(std::string_view written) {
  std::string_view text = written;
  constexpr std::string_view kS3 = "s3://";
  constexpr std::string_view kFile = "file://";
  ArchiveLocation location;
  if (text.starts_with(kS3)) {
    text.remove_prefix(kS3.size());
    const std::size_t slash = std::min(text.find('/'), text.size());
    location.bucket = text.substr(0, slash);
    std::string_view prefix = text.substr(std::min(slash + 1, text.size()));
    while (prefix.ends_with('/')) prefix.remove_suffix(1);
    location.prefix = prefix;
    if (!location.bucket.empty()) return location;
  } else if (text.starts_with(kFile)) {
    location.kind = ArchiveLocation::Kind::directory;
    location.directory = text.substr(kFile.size());
    if (location.directory.starts_with('/')) return location;
  }
  return fail(ErrorCode::usage,
              fmt::format("'{}' is not an archive such as s3://bucket/prefix or file:///directory",
                          written));
}

std::vector<Result<void>> ArchiveTarget::put_all(std::span<const NewDocument> documents) {
  std::vector<Result<void>> results;
  for (const NewDocument& document : documents) results.push_back(put(document.key, document.text));
  return results;
}

}  // namespace redrive::archive
