#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "functions/definition.h"
#include "queue/ids.h"

namespace redrive::dispatch {

struct BucketName {
  std::string name;
};
struct WebhookUrl {
  std::string url;
};

// Where records of invocations go.
using Destination =
    std::variant<queue::QueueIdentity, functions::FunctionId, BucketName, WebhookUrl>;

// The ARN of a queue, of a function or of a bucket, or a URL of http or https.
Result<Destination> parse_destination(std::string_view text);

Result<queue::QueueIdentity> parse_queue_arn(std::string_view arn);
// With or without a qualifier, which becomes part of the name: `orders:live`. $LATEST is none.
Result<functions::FunctionId> parse_function_arn(std::string_view arn);

// The function without its version or alias.
functions::FunctionId unqualified(functions::FunctionId function);

// Where events for a function, a version or an alias wait: a queue of the server's own.
queue::QueueIdentity async_queue_of(const functions::FunctionId& function);
// The other way; nothing when it is another kind of queue.
std::optional<functions::FunctionId> function_of_async_queue(const queue::QueueIdentity& queue);

}  // namespace redrive::dispatch
