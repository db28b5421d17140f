#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/journal/inspection.h"
#include "core/journal/report.h"

// Repairs a journal in place, so that intact records keep their positions and the owner's
// references stay valid. A damaged range becomes one skip record, of which only the 24-byte header
// is written. Originals are copied to *.damaged first.
namespace redrive::journal {
namespace {

Result<void> copy_file(Files& files, const std::string& from, const std::string& to) {
  const auto source = TRY(files.open(from));
  std::string bytes(TRY(source->size()), '\0');
  bytes.resize(TRY(source->read(0, bytes.data(), bytes.size())));
  const auto copy = TRY(files.create(to));
  RETURN_IF_ERROR(copy->write(0, bytes));
  return copy->sync();
}

std::string encode_skip(std::uint32_t segment, const Damage& damage) {
  RecordHeader header;
  header.kind = RecordKind::skip;
  header.length = damage.to - damage.from - kRecordHeaderBytes;
  header.sequence = damage.first_lost;
  header.unsynced = static_cast<std::uint32_t>(damage.lost);
  std::string bytes(kRecordHeaderBytes, '\0');
  store_record_header(bytes.data(), header);
  header.checksum = record_checksum(segment, bytes.data());
  store_record_header(bytes.data(), header);
  return bytes;
}

class Repair {
 public:
  Repair(Files& files, const Inspection& found) : files_(files), found_(found) {}

  Result<CheckReport> run() {
    RETURN_IF_ERROR(check_possible());
    RETURN_IF_ERROR(keep_originals());
    for (const InspectedSegment& segment : found_.segments) RETURN_IF_ERROR(mend(segment));
    RETURN_IF_ERROR(mend_manifest());
    return std::move(report_);
  }

 private:
  // Checksums make these cases practically impossible: two intact headers that contradict each
  // other.
  Result<void> check_possible() const {
    for (const InspectedSegment& segment : found_.segments) {
      for (const Damage& damage : segment.scan.damage) {
        const bool room = damage.to >= damage.from + kRecordHeaderBytes;
        if (room && damage.lost <= std::numeric_limits<std::uint32_t>::max()) continue;
        return std::unexpected(damaged_at(files_,
                                          segment_name(segment.header.number),
                                          damage.from,
                                          "its records contradict the segment that follows, which "
                                          "cannot be repaired"));
      }
    }
    return {};
  }

  Result<void> keep_originals() {
    for (const InspectedSegment& segment : found_.segments) {
      const bool touched = segment.header_lost || !segment.scan.damage.empty();
      if (touched && !segment.missing) RETURN_IF_ERROR(keep(segment_name(segment.header.number)));
    }
    const bool rewritten = found_.manifest_lost || found_.end_lost > 0;
    if (rewritten && found_.directory.manifest) RETURN_IF_ERROR(keep(std::string(kManifestName)));
    return files_.sync_directory();
  }

  Result<void> keep(const std::string& name) {
    const std::string kept = TRY(free_name(name));
    RETURN_IF_ERROR(copy_file(files_, name, kept));
    say(fmt::format("{}: copied to {}", files_.path(name), kept));
    return {};
  }

  // Never overwrite the copy made by an earlier repair: it is the true original.
  Result<std::string> free_name(const std::string& name) {
    const auto taken = TRY(files_.list());
    std::string kept = name + std::string(kDamagedSuffix);
    for (int i = 2; std::find(taken.begin(), taken.end(), kept) != taken.end(); ++i) {
      kept = fmt::format("{}.{}{}", name, i, kDamagedSuffix);
    }
    return kept;
  }

  Result<void> mend(const InspectedSegment& segment) {
    if (segment.missing) return replace_missing(segment);
    if (!segment.header_lost && segment.scan.damage.empty()) return {};
    const auto file = TRY(files_.open(segment_name(segment.header.number)));
    if (segment.header_lost) {
      RETURN_IF_ERROR(file->write(0, encode_segment_header(segment.header)));
      say(fmt::format("{}: header rewritten", path_of(segment)));
    }
    RETURN_IF_ERROR(write_skips(segment, *file));
    return file->sync();
  }

  // An empty segment keeps the chain intact.
  Result<void> replace_missing(const InspectedSegment& segment) {
    const std::string temporary =
        segment_name(segment.header.number) + ".tmp" +
        std::string(kDamagedSuffix);  // Ignored if left behind by a crash.
    const auto file = TRY(files_.create(temporary));
    say(fmt::format("{}: missing, replaced by an empty segment", path_of(segment)));
    RETURN_IF_ERROR(write_skips(segment, *file));
    return publish_segment(files_, *file, temporary, segment.header);
  }

  Result<void> write_skips(const InspectedSegment& segment, File& file) {
    for (const Damage& damage : segment.scan.damage) {
      RETURN_IF_ERROR(file.write(damage.from, encode_skip(segment.header.number, damage)));
      say(fmt::format("{}: {}; removed", path_of(segment), describe(damage)));
    }
    return {};
  }

  Result<void> mend_manifest() {
    if (!found_.manifest_lost && found_.end_lost == 0) return {};
    Manifest manifest = found_.manifest;
    manifest.durable = found_.next_sequence() - 1;
    RETURN_IF_ERROR(write_manifest(files_, manifest));
    if (found_.end_lost > 0) say(describe_lost_end(found_));
    say(fmt::format("{}: rewritten", files_.path(std::string(kManifestName))));
    return {};
  }

  std::string path_of(const InspectedSegment& segment) const {
    return files_.path(segment_name(segment.header.number));
  }

  void say(std::string line) { report_.lines.push_back(std::move(line)); }

  Files& files_;
  const Inspection& found_;
  CheckReport report_;
};

}  // namespace

Result<CheckReport> repair_journal(Files& files, const Explain& explain) {
  const Inspection found = TRY(inspect(files, explain));
  if (found.healthy()) return CheckReport{.lines = {"nothing to repair"}};
  CheckReport report = TRY(Repair(files, found).run());
  report.healthy = TRY(inspect(files, explain)).healthy();
  return report;
}

Result<void> replace_missing_segment(Files& files, std::uint32_t number) {
  SegmentHeader header{.number = number, .segment_bytes = kSegmentBytesMin, .first_sequence = 1};
  for (const std::uint32_t other : TRY(list_directory(files)).segments) {
    if (const auto found = read_segment_header(files, other)) {
      header.segment_bytes = std::max(header.segment_bytes, found->segment_bytes);
    }
  }
  const std::string temporary = segment_name(number) + ".tmp" + std::string(kDamagedSuffix);
  const auto file = TRY(files.create(temporary));
  return publish_segment(files, *file, temporary, header);
}

}  // namespace redrive::journal
