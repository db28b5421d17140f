#include "front/catalogue_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "functions/definitions/codec.h"

namespace redrive::front {
namespace {

Operation on_queue(const Operation& operation) {
  Operation seen = operation;
  if (seen.amounts_to.front().empty()) seen.amounts_to = {"sqs:GetQueueAttributes"};
  return seen;
}

Result<void> authorize_function(const Caller& caller, const Operation& operation,
                                std::string_view arn) {
  const auto function = function_from_arn(arn);
  if (!function) return {};
  return decide(caller,
                operation,
                function_resource(function->account, function->region, function->name),
                {});
}

std::unexpected<Error> not_theirs(const Caller& caller, const Operation& operation) {
  return fail(ErrorCode::access_denied,
              fmt::format("User: {} is not authorized to perform: {} because it belongs to another "
                          "account",
                          caller.key->arn(),
                          operation.name));
}

// `policies` is the engine or, in turn, its state.
template <class Policies>
Result<void> decide_on_mapping(Policies& policies, const Caller& caller, const Operation& operation,
                               const MappingSubject& mapping) {
  if (caller.key == nullptr) return {};
  if (mapping.account != caller.account) return not_theirs(caller, operation);
  RETURN_IF_ERROR(authorize_function(caller, operation, mapping.function_arn));
  const auto queue = identity_from_arn(mapping.queue_arn);
  if (!queue) return {};
  Operation reading = on_queue(operation);
  reading.shareable = true;  // The queue may be another account's that shares it.
  return authorize(policies, caller, reading, resource_of(*queue));
}

// Whether the caller may see the resource that a dimension of an alarm names.
Result<void> authorize_dimension(engine::Engine& engine, const Caller& caller,
                                 const Operation& operation, const AlarmSubject& alarm,
                                 const metrics::Dimensions::value_type& dimension) {
  Resource resource{.kind = ResourceKind::alarm,
                    .account = alarm.account,
                    .region = alarm.region,
                    .name = alarm.name,
                    .covered_as = dimension.second};
  if (dimension.first == metrics::dimension_of(metrics::Scope::queue)) {
    const queue::QueueIdentity queue{
        std::string(alarm.account), std::string(alarm.region), dimension.second};
    RETURN_IF_ERROR(decide(caller, operation, resource, {}));
    return authorize(engine, caller, kSeeQueue, resource_of(queue));
  }
  if (dimension.first == metrics::dimension_of(metrics::Scope::mapping)) {
    if (const auto mapping = find_mapping(engine, dimension.second)) {
      return authorize_mapping(engine, caller, operation, *mapping);
    }
    resource.covered_as = {};
  }
  return decide(caller, operation, resource, {});
}

bool names_subject(const metrics::Dimensions::value_type& dimension) {
  using metrics::Scope;
  return dimension.first == metrics::dimension_of(Scope::queue) ||
         dimension.first == metrics::dimension_of(Scope::function) ||
         dimension.first == metrics::dimension_of(Scope::mapping);
}

bool watches_internal_queue(const AlarmSubject& alarm) {
  return std::ranges::any_of(alarm.dimensions, [](const auto& dimension) {
    return dimension.first == metrics::dimension_of(metrics::Scope::queue) &&
           queue::is_internal_name(dimension.second);
  });
}

}  // namespace

std::optional<MappingSubject> find_mapping(engine::Engine& engine, const std::string& id) {
  const auto document = engine.turn([&](engine::Turn& turn) -> std::optional<std::string> {
    const std::string* const entry = turn.state().find_entry(queue::EntryKind::mapping, id);
    return entry == nullptr ? std::nullopt : std::optional(*entry);
  });
  if (!document) return std::nullopt;
  const auto mapping = functions::decode_mapping(*document);
  if (!mapping) return std::nullopt;
  return MappingSubject{mapping->account, mapping->queue_arn, mapping->function_arn};
}

Result<void> authorize_mapping(engine::Engine& engine, const Caller& caller,
                               const Operation& operation, const MappingSubject& mapping) {
  return decide_on_mapping(engine, caller, operation, mapping);
}

Result<void> authorize_mapping(const queue::State& state, const Caller& caller,
                               const Operation& operation, const MappingSubject& mapping) {
  return decide_on_mapping(state, caller, operation, mapping);
}

Result<void> authorize_alarm(engine::Engine& engine, const Caller& caller,
                             const Operation& operation, const AlarmSubject& alarm) {
  if (watches_internal_queue(alarm)) {
    return fail(ErrorCode::queue_does_not_exist, "The specified queue does not exist.");
  }
  if (caller.key == nullptr) return {};
  bool about_something = false;
  for (const auto& dimension : alarm.dimensions) {
    if (!names_subject(dimension)) continue;
    about_something = true;
    RETURN_IF_ERROR(authorize_dimension(engine, caller, operation, alarm, dimension));
  }
  if (about_something) return {};
  return decide(caller,
                operation,
                {.kind = ResourceKind::alarm,
                 .account = alarm.account,
                 .region = alarm.region,
                 .name = alarm.name},
                {});
}

Result<void> authorize_metrics(engine::Engine& engine, const Gate& gate, const Caller& caller,
                               const Operation& operation, const metrics::Subject& subject) {
  if (caller.key == nullptr) return {};
  switch (subject.scope) {
    case metrics::Scope::server:
      return decide(caller, operation, server_resource(gate), {});
    case metrics::Scope::queue: {
      const auto queue = identity_from_arn(subject.name);
      if (!queue) return decide(caller, operation, server_resource(gate), {});
      return authorize(engine, caller, on_queue(operation), resource_of(*queue));
    }
    case metrics::Scope::function:
      if (!function_from_arn(subject.name)) {
        return decide(caller, operation, server_resource(gate), {});
      }
      return authorize_function(caller, operation, subject.name);
    case metrics::Scope::mapping:
      if (const auto mapping = find_mapping(engine, subject.name)) {
        return authorize_mapping(engine, caller, operation, *mapping);
      }
      return decide(caller, operation, server_resource(gate), {});
  }
  return {};
}

}  // namespace redrive::front
