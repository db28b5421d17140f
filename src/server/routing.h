#pragma once

#include <cstdint>

#include "http/message.h"

namespace redrive::server {

// The APIs that share the port.
enum class Api : std::uint8_t { sqs, lambda, management, metrics, cloudwatch, s3, iam, sts };

// Which API a request is for. A target that an API knows decides first, then the path of the
// management API and of Lambda (every /20YY-MM-DD/...), then the service that the signature is
// scoped to, then what the request looks like. What nothing decides is for SQS, which answers
// requests for no API with its own errors.
//
// Runs for every request on its I/O thread; nearly all are for SQS and are recognised first.
Api api_of(const http::Request& request);

}  // namespace redrive::server
