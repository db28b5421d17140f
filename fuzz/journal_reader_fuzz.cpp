#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "core/journal/format.h"
#include "core/journal/journal.h"
#include "sim/faulty_files.h"

// The input becomes the first segment of a journal. Opening refuses or succeeds; a second open
// replays the same; what repair calls healthy can be opened. The first byte says how much of the
// rest is fixed up to look like a segment, because random mutation does not find checksums.
namespace {

using namespace redrive;
using namespace redrive::journal;

constexpr std::uint32_t kSegmentBytes = 4096;
constexpr Options kOptions{
    .segment_bytes = kSegmentBytes, .tail_cache_bytes = 0, .spare_segments = 0};

enum Help : std::uint8_t { kHeader = 1, kChecksums = 2, kSecondSegment = 4, kManifest = 8 };

SegmentHeader header_of(std::uint32_t number) {
  SegmentHeader header;
  header.number = number;
  header.segment_bytes = kSegmentBytes;
  header.first_sequence = 1;
  return header;
}

// Gives every plausible record a correct checksum.
std::uint32_t mend_checksums(std::string& segment) {
  std::uint64_t at = kSegmentHeaderBytes;
  while (at + kRecordHeaderBytes <= segment.size()) {
    RecordHeader header = load_record_header(segment.data() + at);
    if (at + record_bytes(header.length) > segment.size()) break;
    header.checksum = record_checksum(1, segment.data() + at);
    store_record_header(segment.data() + at, header);
    at += record_bytes(header.length);
  }
  return static_cast<std::uint32_t>(at);
}

void put_second_segment(sim::FaultyFiles& files, std::uint32_t end, std::string_view choice) {
  SegmentHeader header = header_of(2);
  header.first_sequence = choice.empty() ? 2 : 1 + static_cast<std::uint8_t>(choice.back()) % 8;
  header.previous = 1;
  header.previous_end = end;
  files.put(segment_name(2), encode_segment_header(header));
}

void put_files(sim::FaultyFiles& files, std::uint8_t help, std::string_view bytes) {
  std::string segment(bytes.substr(0, kSegmentBytes));
  std::uint32_t end = static_cast<std::uint32_t>(aligned(segment.size()));
  if (help & kHeader) {
    segment.resize(std::max<std::size_t>(segment.size(), kSegmentHeaderBytes));
    segment.replace(0, kSegmentHeaderBytes, encode_segment_header(header_of(1)));
  }
  if (help & kChecksums) end = mend_checksums(segment);
  if (help & kSecondSegment) put_second_segment(files, end, bytes);
  files.put(segment_name(1), segment);
  if (!(help & kManifest)) files.put(std::string(kManifestName), encode_manifest({}));
}

using Replayed = std::map<Sequence, std::string>;

bool open_and_replay(sim::FaultyFiles& files, Replayed& replayed) {
  Recovered recovered;
  const auto replay = [&](Sequence sequence, Location at, std::string_view payload) {
    if (at.offset + payload.size() > kSegmentBytes) std::abort();
    if (!replayed.emplace(sequence, payload).second) std::abort();
    return Result<void>();
  };
  return open_journal(files, kOptions, replay, recovered).has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  sim::FaultyFiles files;
  put_files(files, data[0], bytes);

  Replayed first;
  Replayed second;
  if (open_and_replay(files, first)) {
    if (!open_and_replay(files, second) || first != second) std::abort();
    return 0;
  }
  const auto repaired = repair_journal(files);
  if (repaired && repaired->healthy && !open_and_replay(files, second)) std::abort();
  return 0;
}
