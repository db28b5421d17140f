#include "functions/dispatch/destination.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/queue/hidden_queues.h"

namespace redrive::dispatch {
namespace {

std::unexpected<Error> no_destination(std::string_view text) {
  return fail(ErrorCode::invalid_parameter_value,
              "not the ARN of a queue, a function or a bucket, nor a URL: " + std::string(text));
}

}  // namespace

Result<queue::QueueIdentity> parse_queue_arn(std::string_view arn) {
  const auto parts = split(arn, ':');
  if (parts.size() != 6 || parts[0] != "arn" || parts[2] != "sqs") return no_destination(arn);
  return queue::QueueIdentity{std::string(parts[4]), std::string(parts[3]), std::string(parts[5])};
}

Result<functions::FunctionId> parse_function_arn(std::string_view arn) {
  const auto parts = split(arn, ':');
  if (parts.size() < 7 || parts[0] != "arn" || parts[2] != "lambda" || parts[5] != "function")
    return no_destination(arn);
  functions::FunctionId id{.account = std::string(parts[4]),
                           .region = std::string(parts[3]),
                           .name = std::string(parts[6])};
  const bool qualified = parts.size() > 7 && parts[7] != "$LATEST";
  if (qualified) id.name.append(":").append(parts[7]);
  return id;
}

Result<Destination> parse_destination(std::string_view text) {
  constexpr std::string_view kBucketArn = "arn:aws:s3:::";
  if (text.starts_with("http://") || text.starts_with("https://"))
    return WebhookUrl{std::string(text)};
  if (text.starts_with(kBucketArn)) return BucketName{std::string(text.substr(kBucketArn.size()))};
  if (auto queue = parse_queue_arn(text)) return *std::move(queue);
  return TRY(parse_function_arn(text));
}

functions::FunctionId unqualified(functions::FunctionId function) {
  function.name.resize(std::min(function.name.size(), function.name.find(':')));
  return function;
}

queue::QueueIdentity async_queue_of(const functions::FunctionId& function) {
  return queue::async_of(function.account, function.region, function.name);
}

std::optional<functions::FunctionId> function_of_async_queue(const queue::QueueIdentity& queue) {
  std::string_view name = queue.name;
  if (queue.is_damaged()) name.remove_suffix(queue::kDamagedSuffix.size());
  auto function = queue::function_of_async(name);
  if (!function) return std::nullopt;
  return functions::FunctionId{
      .account = queue.account, .region = queue.region, .name = *std::move(function)};
}

}  // namespace redrive::dispatch
