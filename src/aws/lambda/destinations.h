#pragma once

#include <string>
#include <string_view>

#include "aws/lambda/call.h"
#include "manage/documents/functions.h"
#include "manage/documents/mappings.h"

namespace redrive::lambda {

// The allowed types of queues. Destinations of asynchronous invocations must be standard queues, as
// in Lambda. Destinations of mappings are an extension and can be FIFO queues.
enum class QueueTypes { standard, all };

// Destinations of a request; empty: none. Each is the ARN of an existing queue, function or bucket,
// or (an extension) an http or https URL.
struct Destinations {
  std::string on_success;
  std::string on_failure;
};
Outcome<Destinations> destinations_of(const Call& call, const documents::DestinationConfig& config,
                                      QueueTypes types);

// Checks the dead-letter target of a request. A target that the request does not name may have been
// deleted: the function can still be changed.
Outcome<void> check_dead_letters(const Call& call, const documents::FunctionSettings& settings);

// Points into both texts.
documents::DestinationConfig describe_destinations(std::string_view on_success,
                                                   std::string_view on_failure);

}  // namespace redrive::lambda
