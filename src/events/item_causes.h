#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "wire/reported_error.h"

namespace redrive::events {

// Why one message of a batch failed.
struct ItemCause {
  enum class Source : std::uint8_t {
    none,      // Not known.
    reported,  // The handler said so, in its response or with the error that it raised.
    log,       // Read from the log of the invocation.
  };
  Source source = Source::none;
  wire::ReportedError error;
};

// The causes of the messages that a handler named in batchItemFailures, one for each message of the
// batch: what the response has beside `itemIdentifier` (errorType, errorMessage, stackTrace,
// cause), else what the log tells (log_causes.h). Never fails: what is not understood is no cause.
std::vector<ItemCause> item_causes(std::string_view response, std::string_view log,
                                   std::span<const std::string_view> message_ids,
                                   const std::vector<bool>& failed);

// The causes in the document of an error that a handler raised for a whole batch and that carries
// one error for each message (`recordErrors` of Powertools' FullBatchFailureError, `errors` of an
// AggregateError or ExceptionGroup), matched by message id, else by order. Empty unless every
// message has one.
std::vector<ItemCause> attached_causes(std::string_view error_document,
                                       std::span<const std::string_view> message_ids);

}  // namespace redrive::events
