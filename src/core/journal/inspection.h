#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/journal/directory.h"
#include "core/journal/scan.h"

// Examines a whole journal, continuing past damage. `check` prints the findings and `repair` fixes
// them, so the two cannot disagree.
namespace redrive::journal {

struct InspectedSegment {
  SegmentHeader header;      // As found, or as reconstructed if unreadable.
  bool missing = false;      // The file does not exist, although it must have.
  bool header_lost = false;  // The file exists, but its header is unreadable.
  bool last = false;
  Scan scan;
};

struct Inspection {
  Directory directory;
  Manifest manifest;  // As found, or as reconstructed.
  bool manifest_lost = false;
  // Number of records up to manifest.durable that are missing from the end of the journal.
  std::uint64_t end_lost = 0;
  std::vector<InspectedSegment> segments;  // Oldest first.

  bool healthy() const;
  Sequence next_sequence() const { return segments.back().scan.next; }
};

// Errors: the journal cannot be examined (not a journal, another version, read error) or cannot be
// rebuilt (storage_damaged).
Result<Inspection> inspect(Files& files, const Explain& explain);

}  // namespace redrive::journal
