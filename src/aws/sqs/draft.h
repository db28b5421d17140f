#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "aws/sqs/model/messages.h"
#include "base/digest.h"
#include "base/result.h"
#include "core/queue/send.h"
#include "core/queue/settings.h"

// Checks, hashes and encodes sent messages for the engine, outside the turn.

namespace redrive::sqs {

// What a single send and an entry of a batch have in common.
struct OutgoingMessage {
  std::string_view body;
  std::optional<std::int32_t> delay_seconds;
  const MessageAttributes& attributes;
  const MessageAttributes& system_attributes;
  std::optional<std::string_view> dedup_id;
  std::optional<std::string_view> group_id;
};

// The sender, as stored with the message.
struct Sender {
  std::string_view id;
  std::string_view trace;  // X-Amzn-Trace-Id of the request.
};

// Error texts differ between a single send and an entry of a batch.
enum class SendForm {
  single,
  batch_entry,
  stored,  // Accepted before, perhaps by an earlier version: edited, or restored from an archive.
};

struct PreparedMessage {
  std::string tail;
  std::string_view body;  // Within the tail.
  std::string dedup;      // In force on a FIFO queue.
  std::optional<Md5> md5_of_attributes;
  std::optional<Md5> md5_of_system_attributes;
  queue::Draft draft;  // Points into this struct only, not into the request.
};

// Bytes that count against a queue's limit.
std::size_t message_bytes(const OutgoingMessage& message);

// Checks in the order of AWS: body, size, characters, attributes, ids, rules of the queue's type.
Result<void> check_message(const OutgoingMessage& message, const queue::QueueSettings& settings,
                           SendForm form);
// For messages that passed the checks. `prepared` can be reused, and must not be moved afterwards.
// The caller computes the digest of the body, for several messages at once if possible, and passes
// it to set_digest().
void prepare_message(const Sender& sender, const OutgoingMessage& message,
                     const queue::QueueSettings& settings, PreparedMessage& prepared);
void set_digest(PreparedMessage& prepared, const Md5& md5_of_body);

// MD5 as SQS defines it for attributes. Used for sent messages, and for the
// attributes that a receive requests.
Md5 md5_of_attributes(const MessageAttributes& attributes);

bool is_id_text(
    std::string_view text);  // MessageGroupId and similar ids: 1 to 128 printable ASCII, no space.

}  // namespace redrive::sqs
