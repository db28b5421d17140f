#include <fmt/format.h>

#include "core/journal/inspection.h"
#include "core/journal/report.h"

namespace redrive::journal {
namespace {

void describe_manifest(Files& files, const Inspection& found, CheckReport& report) {
  const Checkpoint& checkpoint = found.manifest.checkpoint;
  const std::string place = fmt::format("record {} in {} at byte {}",
                                        checkpoint.sequence,
                                        segment_name(checkpoint.record.segment),
                                        checkpoint.record.offset);
  const std::string path = files.path(std::string(kManifestName));
  if (found.manifest_lost) {
    report.lines.push_back(
        fmt::format("{}: lost; the last complete checkpoint begins with {}", path, place));
  } else {
    report.lines.push_back(fmt::format("{}: the checkpoint begins with {}", path, place));
  }
}

void describe_segment(Files& files, const InspectedSegment& segment, CheckReport& report) {
  const std::string path = files.path(segment_name(segment.header.number));
  if (segment.missing) report.lines.push_back(fmt::format("{}: missing", path));
  if (segment.header_lost) report.lines.push_back(fmt::format("{}: header lost at byte 0", path));
  for (const Damage& damage : segment.scan.damage) {
    report.lines.push_back(fmt::format("{}: {}", path, describe(damage)));
  }
  for (const std::uint32_t offset : segment.scan.explained) {
    report.lines.push_back(
        fmt::format("{}: the record at byte {} contains damaged messages and is otherwise intact",
                    path,
                    offset));
  }
  if (segment.scan.torn) {
    report.lines.push_back(
        fmt::format("{}: ends at byte {} in a torn write that was never synced; harmless, the next "
                    "start removes it",
                    path,
                    segment.scan.end));
  }
  report.lines.push_back(fmt::format("{}: {} records from {} on, ends at byte {}",
                                     path,
                                     segment.scan.records,
                                     segment.header.first_sequence,
                                     segment.scan.end));
}

}  // namespace

std::string describe(const Damage& damage) {
  return fmt::format("damaged from byte {} to {}: {} records, from {} on, cannot be read",
                     damage.from,
                     damage.to,
                     damage.lost,
                     damage.first_lost);
}

std::string describe_lost_end(const Inspection& found) {
  return fmt::format("{} synced records, from {} on, are missing at the end",
                     found.end_lost,
                     found.next_sequence());
}

Result<CheckReport> check_journal(Files& files, const Explain& explain) {
  const Inspection found = TRY(inspect(files, explain));
  CheckReport report{.healthy = found.healthy()};
  describe_manifest(files, found, report);
  for (const InspectedSegment& segment : found.segments) describe_segment(files, segment, report);
  if (found.end_lost > 0) report.lines.push_back(describe_lost_end(found));
  report.lines.push_back(fmt::format("{} spare segments", found.directory.spares.size()));
  return report;
}

}  // namespace redrive::journal
