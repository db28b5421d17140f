#include "manage/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/text.h"
#include "front/authorize.h"

namespace redrive::manage {

std::string_view Call::parameter(std::string_view name) const {
  const auto found =
      std::ranges::find(context.parameters, name, &PathParameters::value_type::first);
  assert(found != context.parameters.end());
  return found->second;
}

front::Operation Call::operation() const {
  return {.name = operation_name_, .right = route_.right, .amounts_to = route_.amounts_to};
}

Result<void> Call::authorize() const {
  if (route_.whole_server) {
    return front::decide(caller, operation(), front::server_resource(parts.gate), {});
  }
  const auto in_path = [&](std::string_view name) {
    return std::ranges::find(context.parameters, name, &PathParameters::value_type::first);
  };
  if (in_path("function") != context.parameters.end()) {
    const FunctionCalled function = path_function();
    return front::decide(caller,
                         operation(),
                         front::function_resource(function.account, function.region, function.name),
                         {});
  }
  const auto named = in_path("queue");
  if (named == context.parameters.end()) return front::authorize_role(caller, operation());
  return allow(TRY(identity_called(named->second)));
}

Call::FunctionCalled Call::path_function() const {
  const std::string_view text = parameter("function");
  FunctionCalled called{.account = caller.account, .region = caller.region};
  if (const auto named = front::function_from_arn(text)) {
    called.account = named->account;
    called.region = named->region;
    called.qualified = text.substr(static_cast<std::size_t>(named->name.data() - text.data()));
  } else {
    called.qualified = text;
  }
  called.name = called.qualified.substr(0, called.qualified.find(':'));
  constexpr std::string_view kLatest = ":$LATEST";
  if (called.qualified.ends_with(kLatest)) called.qualified = called.name;
  return called;
}

queue::QueueIdentity Call::queue(std::string_view name) const {
  return {caller.account, caller.region, std::string(parameter(name))};
}

Result<void> Call::allow(const queue::QueueIdentity& queue) const {
  return front::authorize(parts.engine, caller, operation(), front::resource_of(queue));
}

Result<void> Call::allow(const queue::State& state, const queue::QueueIdentity& queue) const {
  return front::authorize(state, caller, operation(), front::resource_of(queue));
}

Result<queue::QueueIdentity> Call::identity_called(std::string_view name_or_arn) const {
  if (!name_or_arn.starts_with("arn:")) {
    return queue::QueueIdentity{caller.account, caller.region, std::string(name_or_arn)};
  }
  auto named = front::identity_from_arn(name_or_arn);
  if (!named)
    return fail(ErrorCode::invalid_parameter_value, "The destination is not the ARN of a queue.");
  return *std::move(named);
}

Result<queue::QueueIdentity> Call::queue_called(std::string_view name_or_arn) const {
  auto identity = TRY(identity_called(name_or_arn));
  RETURN_IF_ERROR(allow(identity));
  return identity;
}

Result<queue::QueueIdentity> Call::destination_called(std::string_view name_or_arn) const {
  auto identity = TRY(identity_called(name_or_arn));
  RETURN_IF_ERROR(
      front::authorize(parts.engine, caller, front::kSendToQueue, front::resource_of(identity)));
  return identity;
}

bool Call::sees(const queue::State& state, const queue::QueueIdentity& queue) const {
  return front::authorize(state, caller, front::kSeeQueue, front::resource_of(queue)).has_value();
}

bool Call::sees(const queue::QueueIdentity& queue) const {
  return front::authorize(parts.engine, caller, front::kSeeQueue, front::resource_of(queue))
      .has_value();
}

bool Call::sees_function(std::string_view account, std::string_view region,
                         std::string_view name) const {
  return front::decide(caller,
                       {.name = "lambda:GetFunction", .right = auth::Right::look},
                       front::function_resource(account, region, name.substr(0, name.find(':'))),
                       {})
      .has_value();
}

bool Call::sees_all() const {
  const front::Operation looking{.name = operation_name_, .right = auth::Right::look};
  return front::decide(caller, looking, front::server_resource(parts.gate), {}).has_value();
}

Result<queue::MessageKey> Call::message_key(std::string_view name) const {
  const auto key = parse_int<std::uint64_t>(parameter(name));
  if (!key) return no_such_message();
  return static_cast<queue::MessageKey>(*key);
}

std::string Call::actor() const {
  return caller.key != nullptr ? caller.key->name : caller.sender_id;
}

std::unexpected<Error> no_such_message() {
  return fail(ErrorCode::resource_not_found, "There is no such message in the queue.");
}

std::unexpected<Error> unreadable_message(const Error& error) {
  if (error.code != ErrorCode::storage_damaged) {
    return fail(ErrorCode::internal_failure, "The message cannot be read now: " + error.message);
  }
  return fail(ErrorCode::resource_not_found,
              "The message is damaged: " + error.message +
                  ". It is listed with the queue's damaged messages, or will be as soon as it is "
                  "no longer in flight.");
}

std::string Call::query(std::string_view name) const {
  return std::string(wire::find_query_parameter(decoder(), request.query, {}, name).value_or(""));
}

Result<std::size_t> Call::query_number(std::string_view name, std::size_t otherwise,
                                       std::size_t max) const {
  const std::string text = query(name);
  if (text.empty()) return otherwise;
  const auto number = parse_int<std::size_t>(text);
  if (number && *number >= 1 && *number <= max) return *number;
  return fail(ErrorCode::invalid_parameter_value,
              fmt::format("`{}` must be a number from 1 to {}.", name, max));
}

wire::Decoder& Call::decoder() const {
  thread_local wire::Decoder decoder;
  return decoder;
}

}  // namespace redrive::manage
