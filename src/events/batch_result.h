#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::events {

// What a handler that reports its failures one by one said of a batch.
struct BatchResult {
  // When the answer cannot be understood as one about this batch, all of it failed; this says why.
  std::string fault;
  std::vector<bool> failed;  // One for each message, in the order of the batch.

  bool all_succeeded() const;
  std::size_t failures() const;
};

// Reads the answer of a mapping with ReportBatchItemFailures:
// {"batchItemFailures": [{"itemIdentifier": "<messageId>"}, ...]}. What is empty (null, "", [], {},
// no list, an empty one) means that all went well. One element that names no message of the batch
// fails the whole of it, before any other is honoured.
BatchResult judge_batch(std::string_view response, std::span<const std::string_view> message_ids);

// The same answer for every message: it ran to its end, or it did not.
BatchResult judge_whole_batch(std::size_t size, bool succeeded);

}  // namespace redrive::events
