#pragma once

#include <string>
#include <string_view>

#include "documents/mappings.h"
#include "lambda/call.h"

namespace redrive::lambda {

// Whether what becomes of an event can be told to this place: the ARN of a queue or a function that
// exists, of a bucket, or (our own) an http or https URL.
Outcome<void> check_destination(const Call& call, std::string_view destination);

// Where a request wants successes and failures to go; empty: nowhere.
struct Destinations {
  std::string on_success;
  std::string on_failure;
};
Outcome<Destinations> destinations_of(const Call& call, const documents::DestinationConfig& config);

// Points into both texts.
documents::DestinationConfig describe_destinations(std::string_view on_success,
                                                   std::string_view on_failure);

}  // namespace redrive::lambda
