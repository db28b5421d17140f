#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "engine/peeked.h"
#include "queue/send.h"

// A lineage is what a message has been through since it was first sent, whatever MessageIds it had
// on the way and wherever it is now.
namespace redrive::engine {

// Where a message of a lineage is, or where it was put away.
struct LineagePlace {
  enum class Where : std::uint8_t { queue, bin, archive, damaged, settled };

  Where where = Where::queue;
  // The ARN of the one it is in, was discarded from, was archived from or was processed in.
  std::string queue;
  Uuid message_id;
  Peeked message;             // Of what is archived: only its history and the names in it.
  std::string archive;        // The place, of what is archived.
  Timestamp archived_wall;    // The same,
  Timestamp restored_wall{};  // and when it came back; zero: it did not.
};

struct LineageFound {
  Uuid lineage;
  std::vector<LineagePlace> places;  // What is archived first, oldest first. Empty: not known.
};

// A message that whoever received it has put into an archive.
struct ArchivedByHolder {
  std::string_view handle;
  std::string_view place;
};

// A message that comes back from an archive, with what its document tells of it.
struct Unarchive {
  queue::Draft draft;
  Uuid lineage;
  std::optional<Uuid> archived_as;  // The MessageId it had then.
  Peeked told;                      // Its history and the names in it.
  bool again = false;               // Even if it is known to have come back before.
};
struct Unarchived {
  Uuid message_id;
  bool before = false;  // It had come back already: nothing was done.
};

}  // namespace redrive::engine
