#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "net/wire/reported_error.h"

namespace redrive::events {

// Why one message of a batch failed.
struct ItemCause {
  enum class Source : std::uint8_t {
    none,      // Unknown.
    reported,  // By the handler, in its response or in the error it raised.
    log,       // Found in the invocation's log.
  };
  Source source = Source::none;
  wire::ReportedError error;
};

// The causes for the messages that a handler listed in batchItemFailures, one per message of the
// batch: what the response has besides `itemIdentifier` (errorType, errorMessage, stackTrace,
// cause), else what the log says (log_causes.h). Never fails: what cannot be parsed is no cause.
std::vector<ItemCause> item_causes(std::string_view response, std::string_view log,
                                   std::span<const std::string_view> message_ids,
                                   const std::vector<bool>& failed);

// The causes in the error document of a handler that raised one error for a whole batch, containing
// one error per message (`recordErrors` of Powertools' FullBatchFailureError, `errors` of an
// AggregateError or ExceptionGroup), matched by message id, else by order. Empty unless every
// message has one.
std::vector<ItemCause> attached_causes(std::string_view error_document,
                                       std::span<const std::string_view> message_ids);

}  // namespace redrive::events
