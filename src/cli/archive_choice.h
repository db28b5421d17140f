#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "archive/document.h"
#include "cli/archive_place.h"

namespace redrive::cli {

// Which archived messages a verb means.
struct ArchiveChoice {
  ArchivePlace place;
  std::vector<std::string> names;  // Keys or message ids; none: all that fit what is below.
  std::string date;                // 2026-11-16
  std::string since;
  std::string until;
  std::string text;   // In the body or an attribute's value.
  std::string queue;  // Name of the source or the dead-letter queue.
  std::string group;  // MessageGroupId, or the id of a failure group.

  // Whether nothing narrows it down.
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

// Calls `visit` with each message chosen, in the order of keys. What lies there and is no archived
// message is passed over, with a line on standard error where it looked like one.
Answer<void> for_each_chosen(Session& session, const ArchiveChoice& choice,
                             archive::ArchiveTarget& target, const std::string& prefix,
                             Reading reading,
                             const std::function<Answer<void>(const FoundLetter&)>& visit);

// What to say when names were given and nothing has them.
std::unexpected<Failure> nothing_archived();

}  // namespace redrive::cli
