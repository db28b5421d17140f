#pragma once

#include <string>
#include <string_view>

#include "aws/lambda/call.h"
#include "manage/documents/functions.h"
#include "manage/documents/mappings.h"

namespace redrive::lambda {

// Which queues may be told. Lambda sends what became of asynchronous invocations to standard queues
// only. Mappings of queues with destinations are our own: a FIFO queue may be one.
enum class QueueTypes { standard, all };

// Where a request wants successes and failures to go; empty: nowhere. Each is a place that can be
// told: the ARN of a queue, a function or a bucket that exists, or (our own) an http or https URL.
struct Destinations {
  std::string on_success;
  std::string on_failure;
};
Outcome<Destinations> destinations_of(const Call& call, const documents::DestinationConfig& config,
                                      QueueTypes types);

// Whether events that a function could not process can go where a request wants them. A queue that
// it does not name may have gone: the function can be changed all the same.
Outcome<void> check_dead_letters(const Call& call, const documents::FunctionSettings& settings);

// Points into both texts.
documents::DestinationConfig describe_destinations(std::string_view on_success,
                                                   std::string_view on_failure);

}  // namespace redrive::lambda
