#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "core/queue/ids.h"
#include "functions/definitions/definition.h"

namespace redrive::dispatch {

struct BucketName {
  std::string name;
};
struct WebhookUrl {
  std::string url;
};

// Where invocation records are sent.
using Destination =
    std::variant<queue::QueueIdentity, functions::FunctionId, BucketName, WebhookUrl>;

// The ARN of a queue, function or bucket, or an http or https URL.
Result<Destination> parse_destination(std::string_view text);

Result<queue::QueueIdentity> parse_queue_arn(std::string_view arn);
// With or without a qualifier, which becomes part of the name: `orders:live`. $LATEST is dropped.
Result<functions::FunctionId> parse_function_arn(std::string_view arn);

// The function without its version or alias.
functions::FunctionId unqualified(functions::FunctionId function);

// The internal queue for asynchronous events of a function, a version or an alias.
queue::QueueIdentity async_queue_of(const functions::FunctionId& function);
// The inverse, also for the queue of its damaged events; nullopt for other queues.
std::optional<functions::FunctionId> function_of_async_queue(const queue::QueueIdentity& queue);

}  // namespace redrive::dispatch
