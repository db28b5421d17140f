#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aws/sqs/model/actions.h"
#include "cli/client/service.h"
#include "dead_letters/archive/letter.h"
#include "dead_letters/archive/retry_rules.h"
#include "dead_letters/triage/filter.h"

namespace redrive::cli {

archive::Letter letter_of(const sqs::ReceivedMessage& message);

// A letter to be sent to a queue. Requests refer to it, so it must not move meanwhile.
struct LetterToSend {
  archive::Letter letter;
  std::optional<std::string> trace;          // Sent as AWSTraceHeader.
  std::optional<std::string> deduplication;  // Deduplication id for FIFO queues.
  std::int32_t delay_seconds = 0;
};

// `fifo` determines which parameters an entry may have.
sqs::SendMessageBatchEntry entry_of(std::string_view id, const LetterToSend& letter, bool fifo);

// The attribute for a request; views its argument.
sqs::MessageAttributeValue attribute_value(const archive::LetterAttribute& attribute);

// The result of one attempt to send a letter.
struct SendOutcome {
  bool confirmed = false;  // The queue accepted it, with the same MD5.
  bool may_retry = false;
  std::string reason;
};

// Sends letters in as few requests as SQS allows. Fails if a request failed as a whole; letters
// without a confirmed outcome may or may not have arrived.
Answer<void> send_letters(Service& service, const std::string& queue_url,
                          const std::vector<const LetterToSend*>& letters,
                          std::vector<SendOutcome>& outcomes);

// Whether the letter matches the filter.
bool fits(const triage::Filter& filter, const archive::Letter& letter);

}  // namespace redrive::cli
