#include "lambda/destinations.h"

#include <fmt/format.h>

#include "api/access.h"
#include "base/result.h"
#include "lambda/catalogue.h"

namespace redrive::lambda {
namespace {

constexpr std::size_t kDestinationMax = 1024;
constexpr std::string_view kBucketPrefix = "arn:aws:s3:::";

std::unexpected<Refusal> bad_destination(std::string_view destination, std::string_view why) {
  return invalid(fmt::format("The destination {} is invalid: {}", destination, why));
}

Outcome<void> check_queue_destination(const Call& call, std::string_view arn) {
  const auto identity = api::identity_from_arn(arn);
  if (!identity) return bad_destination(arn, "it is not a queue's ARN.");
  CHECK(call.may_touch(identity->account, identity->name));
  const bool exists =
      call.parts.engine.turn([&](engine::Turn& turn) { return turn.queue(*identity).has_value(); });
  if (!exists) return bad_destination(arn, "there is no such queue.");
  return {};
}

Outcome<void> check_function_destination(const Call& call, std::string_view arn) {
  const CalledFunction called = TRY(call.function_called(arn));
  if (!find_function(call, called)) return bad_destination(arn, "there is no such function.");
  return {};
}

Outcome<void> check_bucket_destination(const Call& call, std::string_view arn) {
  const std::string bucket(arn.substr(kBucketPrefix.size()));
  CHECK(call.may_touch(call.caller.account, bucket));
  if (call.parts.buckets == nullptr || !call.parts.buckets->bucket(bucket)) {
    return bad_destination(arn, "there is no such bucket.");
  }
  return {};
}

std::string_view named_in(const std::optional<documents::Destination>& destination) {
  return destination ? destination->destination.value_or("") : "";
}

}  // namespace

Outcome<void> check_destination(const Call& call, std::string_view destination) {
  if (destination.size() > kDestinationMax) {
    return bad_destination(destination.substr(0, 64), "it is too long.");
  }
  if (destination.starts_with("arn:aws:sqs:")) return check_queue_destination(call, destination);
  if (destination.starts_with("arn:aws:lambda:")) {
    return check_function_destination(call, destination);
  }
  if (destination.starts_with(kBucketPrefix)) return check_bucket_destination(call, destination);
  if (destination.starts_with("http://") || destination.starts_with("https://")) return {};
  return bad_destination(destination,
                         "it is the ARN of neither a queue, a function nor a bucket, nor a URL.");
}

Outcome<Destinations> destinations_of(const Call& call,
                                      const documents::DestinationConfig& config) {
  Destinations out{std::string(named_in(config.on_success)),
                   std::string(named_in(config.on_failure))};
  if (!out.on_success.empty()) CHECK(check_destination(call, out.on_success));
  if (!out.on_failure.empty()) CHECK(check_destination(call, out.on_failure));
  return out;
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
