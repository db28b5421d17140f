#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive/letter.h"

// What becomes of a dead letter: back to its source while it has attempts left, then into the
// archive. One set of rules for whoever applies them, the worker or a policy of the server.
//
// The count travels with the message, in the attribute `retryCount` (a Number). The first return
// makes it 1. A message that carries at most `retries_max` goes back once more, so with 2 it comes
// back three times: carrying nothing, 1 and 2.
namespace redrive::archive {

inline constexpr std::string_view kRetryCount = "retryCount";
inline constexpr std::size_t kAttributesMax = 10;  // As SQS has it.
inline constexpr std::size_t kLetterBytesMax = 1u << 20;
inline constexpr std::int32_t kDelaySecondsMax = 900;

struct RetryRules {
  std::int64_t retries_max = 2;
  std::int32_t backoff_seconds = 0;  // 0: returned messages are visible at once.
};

enum class Fate : std::uint8_t { retry, archive };

struct RetryDecision {
  Fate fate = Fate::retry;
  std::int64_t carried = 0;             // What the message said; 0 when it said nothing.
  Letter letter;                        // With the next count in it.
  std::optional<std::string> trace;     // The trace header to send, when the count is there.
  std::int32_t delay_seconds = 0;       // Doubles with each retry.
  bool counter_was_unreadable = false;  // retryCount was there and no count; it is replaced.
};

// Pure. A message that has ten attributes, or would be too large with another, has no room for the
// count: then it goes into the trace header (`Redrive-Retry=2`), which SQS carries beside the
// attributes and does not count.
RetryDecision decide_retry(Letter letter, const RetryRules& rules);

// The deduplication id under which a FIFO queue takes a letter back: another one than before, or
// the queue would drop it, and the same whenever this return is tried again.
std::string retry_deduplication_id(std::string_view message_id, std::int64_t next_count);

}  // namespace redrive::archive
