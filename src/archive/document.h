#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "archive/letter.h"
#include "base/result.h"
#include "base/time.h"

// What an archived message looks like, and where it lies.
namespace redrive::archive {

// One archived message. What is beside `letter` is known only of messages that we archived
// ourselves.
struct ArchivedLetter {
  Letter letter;
  std::string source;   // URL of the queue it failed in,
  std::string dlq;      // and of the one it was taken from.
  std::string lineage;  // A JSON object: what it had been through, if the archiver knew.
};

// {"Body": …, "Attribute": {name: {"StringValue": …, "DataType": …}}, "Redrive": {…},
//  "Lineage": {…}}
//
// Binary values are base64 under BinaryValue. `Redrive` holds MessageId, Source, Dlq and the system
// attributes; readers that know only the first two members need nothing else.
std::string encode_archived(const ArchivedLetter& archived);

// Also reads documents of other writers, which have Body and perhaps Attribute.
Result<ArchivedLetter> decode_archived(std::string_view text);

// <prefix>/<Mon-DD-YYYY>/<unix timestamp with fraction>_<MessageId>.json, by UTC; without the first
// part when the prefix is empty.
std::string archive_key(std::string_view prefix, Timestamp time, std::string_view message_id);

// When a letter counts as archived: when it was first received, if the queue says so, which is the
// same however often archiving has to be tried. So a letter that a crash leaves in the queue
// overwrites its own document instead of adding another one.
Timestamp archive_time(const Letter& letter, Timestamp now);

// What a key says. Nothing when it is none of an archived message.
struct ArchiveKey {
  std::string day;  // Nov-16-2026
  Timestamp time;
  std::string message_id;
};
std::optional<ArchiveKey> parse_archive_key(std::string_view key);

// Nov-16-2026
std::string archive_day(Timestamp time);

}  // namespace redrive::archive
