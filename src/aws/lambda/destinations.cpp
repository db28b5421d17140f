#include "aws/lambda/destinations.h"

#include <fmt/format.h>

#include "aws/lambda/catalogue.h"
#include "base/result.h"
#include "front/authorize.h"

namespace redrive::lambda {
namespace {

constexpr std::size_t kDestinationMax = 1024;
constexpr std::string_view kQueuePrefix = "arn:aws:sqs:";
constexpr std::string_view kBucketPrefix = "arn:aws:s3:::";

// Lambda's text, which tools recognise, followed by the reason.
std::unexpected<Refusal> bad_destination(std::string_view destination, std::string_view why) {
  return invalid(fmt::format("The destination ARN {} is invalid. {}", destination, why));
}

// Why the queue cannot be a destination; empty: it can.
Outcome<std::string_view> obstacle_of(const Call& call, std::string_view arn, QueueTypes types) {
  const auto identity = front::identity_from_arn(arn);
  if (!identity) return "It is not the ARN of a queue.";
  RETURN_IF_ERROR(call.authorize(front::kSendToQueue, *identity));
  return call.parts.engine.turn([&](engine::Turn& turn) -> std::string_view {
    const auto queue = turn.queue(*identity);
    if (!queue) return "The queue does not exist.";
    const bool refused = types == QueueTypes::standard && (*queue)->settings.is_fifo();
    return refused ? "FIFO queues are not supported: use a standard queue." : "";
  });
}

Outcome<void> check_queue_destination(const Call& call, std::string_view arn, QueueTypes types) {
  const std::string_view obstacle = TRY(obstacle_of(call, arn, types));
  if (!obstacle.empty()) return bad_destination(arn, obstacle);
  return {};
}

Outcome<void> check_function_destination(const Call& call, std::string_view arn) {
  const CalledFunction called = TRY(call.function_called(arn));
  if (!find_function(call, called)) return bad_destination(arn, "The function does not exist.");
  return {};
}

Outcome<void> check_bucket_destination(const Call& call, std::string_view arn) {
  const std::string bucket(arn.substr(kBucketPrefix.size()));
  RETURN_IF_ERROR(call.authorize_objects(front::kPutObject, bucket));
  if (call.parts.buckets == nullptr || !call.parts.buckets->bucket(bucket)) {
    return bad_destination(arn, "The bucket does not exist.");
  }
  return {};
}

std::string_view named_in(const std::optional<documents::Destination>& destination) {
  return destination ? destination->destination.value_or("") : "";
}

Outcome<void> check_destination(const Call& call, std::string_view destination, QueueTypes types) {
  if (destination.size() > kDestinationMax) {
    return bad_destination(destination.substr(0, 64), "It is too long.");
  }
  if (destination.starts_with(kQueuePrefix)) {
    return check_queue_destination(call, destination, types);
  }
  if (destination.starts_with("arn:aws:lambda:")) {
    return check_function_destination(call, destination);
  }
  if (destination.starts_with(kBucketPrefix)) return check_bucket_destination(call, destination);
  if (destination.starts_with("http://") || destination.starts_with("https://")) return {};
  return bad_destination(destination,
                         "It must be the ARN of a queue, a function or a bucket, or a URL.");
}

}  // namespace

Outcome<Destinations> destinations_of(const Call& call, const documents::DestinationConfig& config,
                                      QueueTypes types) {
  Destinations out{std::string(named_in(config.on_success)),
                   std::string(named_in(config.on_failure))};
  if (!out.on_success.empty()) RETURN_IF_ERROR(check_destination(call, out.on_success, types));
  if (!out.on_failure.empty()) RETURN_IF_ERROR(check_destination(call, out.on_failure, types));
  return out;
}

Outcome<void> check_dead_letters(const Call& call, const documents::FunctionSettings& settings) {
  if (!settings.dead_letter_config) return {};
  const std::string_view arn = settings.dead_letter_config->target_arn.value_or("");
  if (arn.empty()) return {};
  const std::string_view obstacle = TRY(obstacle_of(call, arn, QueueTypes::standard));
  if (obstacle.empty()) return {};
  return invalid(fmt::format("Invalid dead letter ARN {}. {}", arn, obstacle));
}

documents::DestinationConfig describe_destinations(std::string_view on_success,
                                                   std::string_view on_failure) {
  const auto one = [](std::string_view destination) {
    documents::Destination out;
    if (!destination.empty()) out.destination = destination;
    return out;
  };
  return {.on_success = one(on_success), .on_failure = one(on_failure)};
}

}  // namespace redrive::lambda
