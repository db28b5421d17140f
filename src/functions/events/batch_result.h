#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::events {

// The result of a batch, as reported by its handler for each message.
struct BatchResult {
  // Set if the response is not valid for this batch, which then failed as a whole: the reason.
  std::string fault;
  std::vector<bool> failed;  // One per message, in batch order.

  bool all_succeeded() const;
  std::size_t failures() const;
};

// Parses the response of a mapping with ReportBatchItemFailures: {"batchItemFailures":
// [{"itemIdentifier": "<messageId>"}, ...]}. An empty value (null, "", [], {}, no list, an empty
// list) means success. One element that names no message of the batch fails the whole batch,
// regardless of the others.
BatchResult judge_batch(std::string_view response, std::span<const std::string_view> message_ids);

// The same result for every message.
BatchResult judge_whole_batch(std::size_t size, bool succeeded);

}  // namespace redrive::events
