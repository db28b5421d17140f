#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "dead_letters/archive/letter.h"

// Format and key of an archived message.
namespace redrive::archive {

// One archived message. The members besides `letter` are set only for messages that we archived
// ourselves.
struct ArchivedLetter {
  Letter letter;
  std::string source;   // URL of the queue it failed in,
  std::string dlq;      // and of the dead-letter queue it was taken from.
  std::string lineage;  // JSON object with its history, if the archiver knew it.
};

// {"Body": …, "Attribute": {name: {"StringValue": …, "DataType": …}}, "Redrive": {…},
//  "Lineage": {…}}
//
// Binary values are base64 under BinaryValue. `Redrive` holds MessageId, Source, Dlq and the system
// attributes; readers that know only the first two members need nothing else.
std::string encode_archived(const ArchivedLetter& archived);

// Also reads documents written by other tools, which have Body and possibly Attribute.
Result<ArchivedLetter> decode_archived(std::string_view text);

// <prefix>/<Mon-DD-YYYY>/<unix timestamp with fraction>_<MessageId>.json, in UTC; without the first
// part if the prefix is empty.
std::string archive_key(std::string_view prefix, Timestamp time, std::string_view message_id);

// The time under which a letter is archived: its first receive, if known, which does not change
// when archiving is retried. So a letter that a crash left in the queue overwrites its own document
// instead of adding another one.
Timestamp archive_time(const Letter& letter, Timestamp now);

// Parsed key of an archived message; nullopt for any other key.
struct ArchiveKey {
  std::string day;  // Nov-16-2026
  Timestamp time;
  std::string message_id;
};
std::optional<ArchiveKey> parse_archive_key(std::string_view key);

// Nov-16-2026
std::string archive_day(Timestamp time);

}  // namespace redrive::archive
