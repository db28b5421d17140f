#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace redrive::queue {

using std::chrono::seconds;

inline constexpr seconds kVisibilityTimeoutMax{43'200};
inline constexpr seconds kRetentionMin{60};
inline constexpr seconds kRetentionMax{1'209'600};
inline constexpr seconds kDelayMax{900};
inline constexpr seconds kWaitMax{20};
inline constexpr std::uint32_t kMessageBytesMin = 1024;
inline constexpr std::uint32_t kMessageBytesMax = 1u << 20;
inline constexpr int kReceiveCountMaxMax = 1000;
inline constexpr std::size_t kInFlightMax = 120'000;
inline constexpr Duration kDedupWindow = std::chrono::minutes(5);
inline constexpr Duration kReceiveAttemptWindow = std::chrono::minutes(5);
inline constexpr Duration kPurgeInterval = seconds(60);
inline constexpr Duration kRecreateInterval = seconds(60);

// Where messages go that were received too often.
struct RedrivePolicy {
  std::string target_arn;
  std::uint32_t receive_count_max = 0;

  friend bool operator==(const RedrivePolicy&, const RedrivePolicy&) = default;
};

// Which queues may name this one as their dead-letter queue.
struct RedriveAllowPolicy {
  enum class Permission : std::uint8_t { allow_all, deny_all, by_queue };
  Permission permission = Permission::allow_all;
  std::vector<std::string> source_arns;

  bool allows(const std::string& source_arn) const;
  friend bool operator==(const RedriveAllowPolicy&, const RedriveAllowPolicy&) = default;
};

enum class DedupScope : std::uint8_t { queue, message_group };
enum class ThroughputLimit : std::uint8_t { per_queue, per_message_group };

// What only FIFO queues have. `dedup_scope_at_birth` is effective: changing the attribute later
// changes only what is reported.
struct FifoSettings {
  bool content_based_dedup = false;
  DedupScope dedup_scope = DedupScope::queue;
  DedupScope dedup_scope_at_birth = DedupScope::queue;
  ThroughputLimit throughput_limit = ThroughputLimit::per_queue;

  friend bool operator==(const FifoSettings&, const FifoSettings&) = default;
};

// What a dead-letter queue does with its messages automatically.
struct DeadLetterPolicy {
  enum class Then : std::uint8_t {
    park,     // They stay, and jobs skip them.
    discard,  // Into the bin.
    archive,  // Into the archive, and out of the queue.
  };

  std::uint32_t redrives_max = 0;  // Per message; 0: unlimited.
  seconds redrive_after{0};        // Delay after a message arrives; 0: no automatic redrive.
  std::uint32_t backoff_rate = 2;  // The delay is multiplied by this after each redrive.
  seconds redrive_after_max{43'200};
  Then then = Then::park;         // Applied to messages that have had redrives_max.
  bool archive_expiring = false;  // Archive before retention removes them.
  std::string archive;            // Where archives are: bucket/prefix.

  // The delay of a message with this many redrives.
  seconds delay_after(std::uint32_t redrives) const;
  bool is_spent(std::uint32_t redrives) const {
    return redrives_max > 0 && redrives >= redrives_max;
  }
  friend bool operator==(const DeadLetterPolicy&, const DeadLetterPolicy&) = default;
};

// A queue's attributes, always valid: the SQS module validates texts before it sets one.
struct QueueSettings {
  seconds visibility_timeout{30};
  seconds retention{345'600};
  seconds delay{0};
  seconds receive_wait{0};
  std::uint32_t message_bytes_max = kMessageBytesMax;
  std::string policy;  // Empty when unset, like the key id below.
  std::optional<RedrivePolicy> redrive;
  std::optional<RedriveAllowPolicy> redrive_allow;
  bool sqs_managed_sse = true;
  std::string kms_key_id;
  seconds kms_reuse_period{300};
  std::optional<FifoSettings> fifo;
  std::optional<DeadLetterPolicy> dead_letters;

  bool is_fifo() const { return fifo.has_value(); }
  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

}  // namespace redrive::queue
