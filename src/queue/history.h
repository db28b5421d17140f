#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "queue/ids.h"

namespace redrive::queue {

enum class AttemptEnd : std::uint8_t {
  open,                // The consumer still has it, as far as we know.
  released,            // It gave the message back: visibility set to zero.
  visibility_expired,  // It neither deleted nor returned it in time.
};

// One delivery to a consumer.
struct Attempt {
  Timestamp received_wall;
  std::uint32_t duration_ms = 0;  // Until it ended; meaningless while open.
  NameIndex by = NameIndex::none;
  AttemptEnd end = AttemptEnd::open;

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

inline constexpr std::size_t kAttemptsFirst = 3;  // Kept for ever: how it began.
inline constexpr std::size_t kAttemptsLast = 20;  // And how it went lately.

// What a message has been through since it was first sent. A message that was never received nor
// moved has none. Its lineage id is the MessageId of that first send, which stands in its stored
// bytes.
struct History {
  Timestamp first_received_wall;  // In the present life; a redrive starts a new one.
  Timestamp received_at;          // Engine time of the last delivery: the 12 hours run from here.
  std::uint32_t attempts_total = 0;  // Over all lives.
  std::uint32_t entered_generation =
      0;  // Handles up to this generation belong to an earlier queue.
  std::uint32_t prior_receives =
      0;  // Deliveries in earlier lives; generation = this + receive count.
  std::uint16_t redrives = 0;
  NameIndex dead_letter_source = NameIndex::none;  // The ARN reported as DeadLetterQueueSourceArn.
  NameIndex origin = NameIndex::none;              // The ARN of the queue it was first sent to.
  std::uint64_t sequence = 0;      // Given anew when it entered this FIFO queue; 0: as sent.
  std::optional<Uuid> message_id;  // Given anew by a redrive.
  Timestamp sent_wall;             // Set anew by a redrive or a FIFO dead-lettering; zero: as sent.
  bool dedup_is_message_id = false;  // Dead-lettered in a FIFO queue.
  std::vector<Attempt> attempts;     // The first kAttemptsFirst and the last kAttemptsLast of all.

  friend bool operator==(const History&, const History&) = default;

  void add(const Attempt& attempt);
  // Ends the last attempt if it is still open.
  void end_attempt(AttemptEnd how, Timestamp now);
  void clear();  // Back to a fresh one, keeping the vector's room.
};

}  // namespace redrive::queue
