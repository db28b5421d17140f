#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "core/engine/engine.h"
#include "core/queue/send.h"
#include "dead_letters/lineage/peek.h"
#include "dead_letters/view/peeked.h"

// A lineage is what a message has been through since it was first sent, whatever MessageIds it had
// on the way and wherever it is now.
namespace redrive::dead_letters {

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

// What a receipt handle refers to.
struct HeldMessage {
  Peeked message;
  Uuid lineage;
};
struct HeldMessages {
  std::vector<Result<HeldMessage>> messages;  // One for each handle.
  engine::BodyPins pins;
};

// Finds messages by their lineage, and keeps lineages going through archives.
class Lineages {
 public:
  Lineages(engine::Engine& engine, const Peek& peek) : engine_(engine), peek_(peek) {}

  // Everything of the lineage that this MessageId belongs to: the first one it had, the one it has
  // now, or the one it had when it was archived.
  LineageFound find(const Uuid& id);
  // The lineages of messages whose MessageId, now or at first, begins with `prefix`: at most `max`,
  // of messages in queues, bins and among settled ones. `prefix` in lower case, as Uuid::text.
  std::vector<Uuid> like(std::string_view prefix, std::size_t max);

  // What receipt handles refer to.
  Result<HeldMessages> held(const queue::QueueIdentity& queue,
                            std::span<const std::string_view> handles);
  // Removes messages that their consumer has put into an archive. All in one record; the last
  // ArchivedLineages::kMax of them are remembered.
  Result<std::vector<Result<void>>> archive_held(const queue::QueueIdentity& queue,
                                                 std::span<const ArchivedByHolder> archived,
                                                 const engine::Actor& by);
  // Takes messages back from an archive: each is sent to the queue, once, and its lineage goes on.
  Result<std::vector<Unarchived>> unarchive(const queue::QueueIdentity& queue,
                                            std::span<const Unarchive> messages,
                                            const engine::Actor& by);

 private:
  // Messages that an id may be of, and the lineages they really belong to.
  struct Suspects {
    std::vector<queue::MessageKey> keys;
    std::vector<Uuid> lineages;
  };
  Suspects suspects_of(const Uuid& id);
  void look_for(engine::Turn& turn, queue::MessageKey key, LineageFound& found);
  LineagePlace look_at_place(engine::Turn& turn, const queue::Queue& queue, queue::Slot slot,
                             const Uuid& lineage) const;

  engine::Engine& engine_;
  const Peek& peek_;
};

}  // namespace redrive::dead_letters
