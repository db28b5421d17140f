#pragma once

#include <cstddef>
#include <cstdint>

#include "net/http/message.h"

namespace redrive::app {

// The APIs that share the port.
enum class Api : std::uint8_t {
  sqs,
  lambda,
  management,
  metrics,
  cloudwatch,
  s3,
  iam,
  sts,
  ssm,
  console
};
inline constexpr std::size_t kApis = 10;

// Which API a request is for. A target that an API knows decides first, then the path of the
// management API, of Lambda (every /20YY-MM-DD/...) and of the web console, then the service that
// the signature is scoped to, then the shape of the request. Anything else is for SQS, which
// answers requests for no API with its own errors.
//
// Runs for every request on its I/O thread; nearly all are for SQS and are recognised first.
Api api_of(const http::Request& request);

}  // namespace redrive::app
