#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/archive_place.h"
#include "dead_letters/archive/document.h"

namespace redrive::cli {

// Selects archived messages for a command.
struct ArchiveChoice {
  ArchivePlace place;
  // Keys or message ids; empty: all that match the conditions below.
  std::vector<std::string> names;
  std::string date;  // 2026-11-16
  std::string since;
  std::string until;
  std::string text;   // In the body or an attribute's value.
  std::string queue;  // Name of the source queue or the dead-letter queue.
  std::string group;  // MessageGroupId, or the id of a failure group.

  // Whether there are no conditions.
  bool is_all() const;
};

void add_archive_location(Verb verb, ArchiveChoice& choice);
void add_archive_names(Verb verb, ArchiveChoice& choice);
void add_archive_conditions(Verb verb, ArchiveChoice& choice);

struct FoundLetter {
  archive::ArchiveEntry entry;
  archive::ArchiveKey key;
  std::string document;              // Empty unless it had to be read,
  archive::ArchivedLetter contents;  // and so is this.
};

enum class Reading : bool { only_if_needed, always };

// Calls `visit` for each selected message, in key order. Other objects are skipped, with a line on
// stderr if the key looked like a message's.
Answer<void> for_each_chosen(Session& session, const ArchiveChoice& choice,
                             archive::ArchiveTarget& target, const std::string& prefix,
                             Reading reading,
                             const std::function<Answer<void>(const FoundLetter&)>& visit);

// The error if names were given and none was found.
std::unexpected<Failure> nothing_archived();

}  // namespace redrive::cli
