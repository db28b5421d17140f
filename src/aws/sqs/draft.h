#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "aws/sqs/model/messages.h"
#include "base/digest.h"
#include "base/result.h"
#include "core/queue/send.h"
#include "core/queue/settings.h"

// From what a sender wrote to a message ready for the engine: checks, digests, encoding. All of it
// outside the engine's turn.

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

// Who sends, as it is kept with the message.
struct Sender {
  std::string_view id;
  std::string_view trace;  // X-Amzn-Trace-Id of the request.
};

// Whether a size limit is broken by a single send or by an entry of a batch: the words differ.
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
  queue::Draft draft;  // Views into this struct: of the request nothing is needed any more.
};

// Bytes that count against a queue's limit.
std::size_t message_bytes(const OutgoingMessage& message);

// The rules in the order of the reference: body, size, characters, attributes, ids, what fits the
// kind of queue.
Result<void> check_message(const OutgoingMessage& message, const queue::QueueSettings& settings,
                           SendForm form);
// For messages that passed the checks. `prepared` may have been used before, and must not move
// afterwards. It is complete with the digest of its body, which is the caller's to compute, several
// at a time where there are several.
void prepare_message(const Sender& sender, const OutgoingMessage& message,
                     const queue::QueueSettings& settings, PreparedMessage& prepared);
void set_digest(PreparedMessage& prepared, const Md5& md5_of_body);

// MD5 as SQS defines it for attributes. Used on the way in, and on the way out for the ones asked
// for.
Md5 md5_of_attributes(const MessageAttributes& attributes);

bool is_id_text(std::string_view
                    text);  // MessageGroupId and its relatives: 1 to 128 printable ASCII, no space.

}  // namespace redrive::sqs
