#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/letter.h"
#include "archive/retry_rules.h"
#include "cli/service.h"
#include "dead_letter/filter.h"
#include "sqs/actions.h"

namespace redrive::cli {

archive::Letter letter_of(const sqs::ReceivedMessage& message);

// A letter on its way into a queue. Views of it go into requests, so it stays put meanwhile.
struct LetterToSend {
  archive::Letter letter;
  std::optional<std::string> trace;          // Sent as AWSTraceHeader,
  std::optional<std::string> deduplication;  // and to FIFO queues under this id.
  std::int32_t delay_seconds = 0;
};

// Whether the queue of that URL is a FIFO queue decides which parameters an entry may have.
sqs::SendMessageBatchEntry entry_of(std::string_view id, const LetterToSend& letter, bool fifo);

// As the service takes an attribute; views it.
sqs::MessageAttributeValue attribute_value(const archive::LetterAttribute& attribute);

// What one attempt to send some letters came to, letter by letter.
struct SendOutcome {
  bool confirmed = false;  // The queue has it, and says that it has the same bytes.
  bool may_retry = false;
  std::string reason;
};

// Sends them in as few requests as SQS allows. Fails when a request as a whole did; then the
// letters whose outcome is not confirmed may or may not have arrived.
Answer<void> send_letters(Service& service, const std::string& queue_url,
                          const std::vector<const LetterToSend*>& letters,
                          std::vector<SendOutcome>& outcomes);

// Whether the letter is one of those that the filter means.
bool fits(const dead_letter::Filter& filter, const archive::Letter& letter);

}  // namespace redrive::cli
