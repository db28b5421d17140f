#pragma once

#include <optional>
#include <string>
#include <vector>

#include "journal/directory.h"
#include "journal/scan.h"

// Looks at a whole journal, past whatever is damaged. `check` prints what this finds, `repair`
// mends it: they cannot disagree.
namespace redrive::journal {

struct InspectedSegment {
  SegmentHeader header;      // As found; or as it must have been, if it could not be read.
  bool missing = false;      // There is no file, though there must have been one.
  bool header_lost = false;  // There is a file, and its header cannot be read.
  bool last = false;
  Scan scan;
};

struct Inspection {
  Directory directory;
  Manifest manifest;  // As found, or as it may be rebuilt.
  bool manifest_lost = false;
  // The records up to manifest.durable that are gone without a trace from the end of the journal.
  std::uint64_t end_lost = 0;
  std::vector<InspectedSegment> segments;  // Oldest first.

  bool healthy() const;
  Sequence next_sequence() const { return segments.back().scan.next; }
};

// Errors: nothing can be said (no journal here, another version, reading failed), or nothing can be
// rebuilt (storage_damaged).
Result<Inspection> inspect(Files& files, const Explain& explain);

}  // namespace redrive::journal
