#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "core/queue/ids.h"

namespace redrive::queue {

enum class AttemptEnd : std::uint8_t {
  open,                // The consumer may still be processing it.
  released,            // The consumer set its visibility to zero.
  visibility_expired,  // The visibility timeout ended.
  failed,              // The consumer reported an error.
  processed,           // The consumer deleted the message. Only for settled messages.
};

// Whether a delivery was made under isolation of retries (queue/isolation.h). Stored on disk:
// append new values at the end.
enum class Isolation : std::uint8_t {
  off,
  on,
  not_run,  // On, and the message was returned before any handler saw it.
};

// One delivery to a consumer.
struct Attempt {
  Timestamp received_wall;
  std::uint32_t duration_ms = 0;  // Until it ended; meaningless while open.
  NameIndex by = NameIndex::none;
  ErrorKey error = ErrorKey::none;  // What it reported.
  AttemptEnd end = AttemptEnd::open;
  Isolation isolation = Isolation::off;
  // The number of messages in the batch that failed as a whole, capped; 0: the consumer reported
  // this message by itself.
  std::uint16_t company = 0;

  // The error is that of a batch, and may be due to any other message in it.
  bool is_shared() const { return end == AttemptEnd::failed && company > 1; }

  friend bool operator==(const Attempt&, const Attempt&) = default;
};
static_assert(sizeof(Attempt) == 24);

enum class DeadLetterReason : std::uint8_t {
  receive_count,  // Received as often as the redrive policy allows.
  reported,       // A consumer asked for it.
};

// What happened to a message other than deliveries.
struct LineageEvent {
  // On disk: new ones come last.
  enum class Kind : std::uint8_t {
    dead_lettered,
    redriven,
    edited,
    discarded,
    restored,
    archived,
    unarchived,  // Restored from an archive.
    replaced,    // This is the original of an edited message.
    damaged,     // Its stored bytes could not be read; `reason` says what was wrong.
    processed,   // A consumer deleted it after a redrive; `job` is the job that redrove it.
    tried,       // A handler ran on a copy (`dlq try`); `reason` says which and how it ended.
  };

  Timestamp wall;
  NameIndex from = NameIndex::none;    // The ARN of the queue it was in.
  NameIndex actor = NameIndex::none;   // none: done by the server's rules.
  NameIndex reason = NameIndex::none;  // As given by the actor.
  TaskKey job = TaskKey::none;         // Of redrives.
  Kind kind = Kind::dead_lettered;
  DeadLetterReason why = DeadLetterReason::receive_count;  // Of dead letters.

  friend bool operator==(const LineageEvent&, const LineageEvent&) = default;
};

// How often handlers have failed with a message, by kind of failure. `scope` identifies the rules
// that are counted; with other rules the counts start from zero.
struct RetryCounts {
  std::uint64_t scope = 0;
  std::vector<std::uint32_t> counts;  // Runs, then the retries of each rule.

  friend bool operator==(const RetryCounts&, const RetryCounts&) = default;
};
inline constexpr std::size_t kRetryCountsMax = 64;

inline constexpr std::size_t kAttemptsFirst = 3;  // The first attempts are always kept,
inline constexpr std::size_t kAttemptsLast = 20;  // and the most recent ones.
inline constexpr std::size_t kEventsFirst = 3;
inline constexpr std::size_t kEventsLast = 20;

// The history of a message since its first send. A message that was never received or moved has
// none. Its lineage id is the MessageId of that first send, which stands in its stored bytes.
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
  std::uint64_t sequence = 0;        // Assigned when it entered this FIFO queue; 0: as sent.
  std::optional<Uuid> message_id;    // Assigned by a redrive.
  Timestamp sent_wall;               // Set by a redrive or a FIFO dead-lettering; zero: as sent.
  bool dedup_is_message_id = false;  // Dead-lettered in a FIFO queue.
  TaskKey job = TaskKey::none;       // The redrive whose outcome is still open.
  FailureGroupKey group = FailureGroupKey::none;         // In a dead-letter queue, once known.
  FailureGroupKey former_group = FailureGroupKey::none;  // Before its last redrive.
  std::uint32_t events_total = 0;
  std::vector<Attempt> attempts;     // The first kAttemptsFirst and the last kAttemptsLast of all.
  std::vector<LineageEvent> events;  // The first kEventsFirst and the last kEventsLast of all.
  RetryCounts retries;               // In the present queue.

  friend bool operator==(const History&, const History&) = default;

  // Returns the error of the attempt that was evicted.
  ErrorKey add(const Attempt& attempt);
  void add(const LineageEvent& event);
  // Ends the last attempt if it is still open.
  void end_attempt(AttemptEnd how, Timestamp now);
  // The last attempt failed, for a reason. Returns the one it had before.
  ErrorKey fail_attempt(ErrorKey error, Timestamp now, std::uint16_t company = 0);
  // The attempts of the last `deliveries` deliveries, oldest first, without a gap: fewer if not all
  // are kept.
  std::span<const Attempt> recent(std::uint32_t deliveries) const;
  void clear();  // Resets everything, keeping the capacity of the vectors.
};

}  // namespace redrive::queue
