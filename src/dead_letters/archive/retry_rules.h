#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dead_letters/archive/letter.h"

// What to do with a dead letter: back to its source while it has attempts left, then into the
// archive. The same rules for the worker and for the server's policies.
//
// The count is stored in the message, in the attribute `retryCount` (a Number). The first return
// sets it to 1. A message with a count of at most `retries_max` goes back once more, so with 2 it
// is returned three times: with no count, with 1 and with 2.
namespace redrive::archive {

inline constexpr std::string_view kRetryCount = "retryCount";
inline constexpr std::size_t kAttributesMax = 10;  // SQS limit.
inline constexpr std::size_t kLetterBytesMax = 1u << 20;
inline constexpr std::int32_t kDelaySecondsMax = 900;

struct RetryRules {
  std::int64_t retries_max = 2;
  std::int32_t backoff_seconds = 0;  // 0: returned messages are visible immediately.
};

enum class Fate : std::uint8_t { retry, archive };

struct RetryDecision {
  Fate fate = Fate::retry;
  std::int64_t carried = 0;             // The message's count; 0 if it had none.
  Letter letter;                        // With the incremented count.
  std::optional<std::string> trace;     // The trace header to send, if it holds the count.
  std::int32_t delay_seconds = 0;       // Doubles with each retry.
  bool counter_was_unreadable = false;  // retryCount was not a valid number; it is replaced.
};

// Pure. A message that has ten attributes, or would become too large, cannot take the count as an
// attribute: it then goes into the trace header (`Redrive-Retry=2`), which SQS does not count.
RetryDecision decide_retry(Letter letter, const RetryRules& rules);

// The deduplication id for returning a letter to a FIFO queue: different for each return, or the
// queue would drop it, but the same when one return is retried.
std::string retry_deduplication_id(std::string_view message_id, std::int64_t next_count);

}  // namespace redrive::archive
