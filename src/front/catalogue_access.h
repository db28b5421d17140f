#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "front/authorize.h"
#include "observe/metrics/cloud_metrics.h"
#include "observe/metrics/history.h"

// Decisions about documents of the catalogue: access to mappings and alarms depends on the queues
// and functions that they name.
namespace redrive::front {

// The parts of an event source mapping that decide its visibility.
struct MappingSubject {
  std::string account;
  std::string queue_arn;
  std::string function_arn;
};
std::optional<MappingSubject> find_mapping(engine::Engine& engine, const std::string& id);

// A mapping belongs to its account, and to keys that may use both its queue and its function.
// The second is for use in turn.
Result<void> authorize_mapping(engine::Engine& engine, const Caller& caller,
                               const Operation& operation, const MappingSubject& mapping);
Result<void> authorize_mapping(const queue::State& state, const Caller& caller,
                               const Operation& operation, const MappingSubject& mapping);

// The parts of an alarm that decide its visibility.
struct AlarmSubject {
  std::string_view account;
  std::string_view region;
  std::string_view name;
  const metrics::Dimensions& dimensions;
};
// An alarm belongs to its account, and to keys that may see what its dimensions name; one without
// such dimensions to keys whose patterns cover its own name.
Result<void> authorize_alarm(engine::Engine& engine, const Caller& caller,
                             const Operation& operation, const AlarmSubject& alarm);

// The metrics of a queue, a function, a mapping or the server.
Result<void> authorize_metrics(engine::Engine& engine, const Gate& gate, const Caller& caller,
                               const Operation& operation, const metrics::Subject& subject);

}  // namespace redrive::front
